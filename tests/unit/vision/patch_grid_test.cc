#include "fovea/vision/patch_grid.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/vision/preprocessor.h"

namespace fovea {
namespace {

Preprocessor preprocessor(std::string_view json, std::string_view model_type) {
  return Preprocessor(parse_preprocessor_config(Json::parse(json, "p"), "p", model_type));
}

// Every pixel's patch shows the pixel, and every patch's pixels name the patch.
void check_round_trip(const PatchGrid& grid) {
  const PictureSize original = grid.window().original;
  int64_t shown = 0;
  for (int64_t y = 0; y < original.height; ++y) {
    for (int64_t x = 0; x < original.width; ++x) {
      const auto patch = grid.patch_of_pixel(x, y);
      if (!patch) continue;
      ++shown;
      const PictureRectangle there = grid.rectangle(*patch);
      const double center_x = static_cast<double>(x) + 0.5;
      const double center_y = static_cast<double>(y) + 0.5;
      // Two divisions there and back: a pixel at a patch's edge may be off by rounding.
      EXPECT_GE(center_x, there.left - 1e-9);
      EXPECT_LE(center_x, there.right + 1e-9);
      EXPECT_GE(center_y, there.top - 1e-9);
      EXPECT_LE(center_y, there.bottom + 1e-9);
    }
  }
  EXPECT_GT(shown, 0);
  for (int64_t patch = 0; patch < grid.patches(); ++patch) {
    const PictureRectangle there = grid.rectangle(patch);
    const auto x = static_cast<int64_t>((there.left + there.right) / 2);
    const auto y = static_cast<int64_t>((there.top + there.bottom) / 2);
    // A patch smaller than a pixel need not hold a pixel's centre.
    if (there.empty() || there.right - there.left < 2 || there.bottom - there.top < 2) continue;
    EXPECT_EQ(grid.patch_of_pixel(x, y), patch);
  }
}

TEST(PatchGrid, MapsBothWaysThroughScaleAndCrop) {
  for (const auto& [json, type] : {std::pair{"{}", "vit"},
                                   {"{}", "deit"},
                                   {"{}", "clip"},
                                   {R"({"size": {"shortest_edge": 60}})", "dinov2"},
                                   {R"({"do_resize": false, "crop_size": 150})", "clip"}}) {
    SCOPED_TRACE(type);
    const Preprocessor prepare = preprocessor(json, type);
    for (const PictureSize size : {PictureSize{333, 211}, {97, 300}, {12, 9}, {224, 224}}) {
      check_round_trip(PatchGrid::of_patches(prepare.window(size), 14));
    }
  }
  const Preprocessor detr = preprocessor(R"({"size": 90, "max_size": 160})", "detr");
  check_round_trip(PatchGrid::of_features(detr.window({333, 111}), 32));
}

TEST(PatchGrid, LeavesOutWhatTheCropCutAway) {
  // 200 x 100 becomes 448 x 224, of which columns 112 to 335 are kept: 50 to 150 of the original.
  const PatchGrid grid = PatchGrid::of_patches(preprocessor("{}", "clip").window({200, 100}), 16);
  EXPECT_EQ(grid.columns(), 14);
  EXPECT_EQ(grid.patch_of_pixel(49, 0), std::nullopt);
  EXPECT_EQ(grid.patch_of_pixel(50, 0), 0);
  EXPECT_EQ(grid.patch_of_pixel(149, 99), 195);
  EXPECT_EQ(grid.patch_of_pixel(150, 99), std::nullopt);
  EXPECT_EQ(grid.patch_of_pixel(-1, 0), std::nullopt);
  EXPECT_EQ(grid.patch_of_pixel(200, 0), std::nullopt);
  const PictureRectangle first = grid.rectangle(0);
  EXPECT_DOUBLE_EQ(first.left, 50);
  EXPECT_DOUBLE_EQ(first.top, 0);
  EXPECT_DOUBLE_EQ(first.right, 50 + 16 * 200.0 / 448);
  EXPECT_THROW(grid.rectangle(196), Error);
  EXPECT_THROW(grid.rectangle(-1), Error);
}

TEST(PatchGrid, GivesAnEmptyRectangleForAPatchOfPadding) {
  // 20 x 20 in the middle of 60 x 60.
  const PatchGrid grid = PatchGrid::of_patches(
      preprocessor(R"({"do_resize": false, "crop_size": 60})", "clip").window({20, 20}), 20);
  EXPECT_TRUE(grid.rectangle(0).empty());
  EXPECT_EQ(grid.rectangle(4), (PictureRectangle{0, 0, 20, 20}));
  EXPECT_EQ(grid.patch_of_pixel(0, 0), 4);
}

TEST(PatchGrid, TellsHowMuchOfItLiesOverThePicture) {
  // Five columns and, of the second row, 21 of 32 pixels.
  const PictureWindow wide{.original = {333, 111}, .resized = {160, 53}, .input = {160, 53}};
  const PatchGrid grid = PatchGrid::of_features(wide, 32);
  EXPECT_NEAR(grid.cover().x, 5, 1e-12);
  EXPECT_NEAR(grid.cover().y, 53.0 / 32, 1e-12);
  EXPECT_EQ(grid.filled_size(), (PictureSize{333, 134}));  // 111 * 64 / 53 = 134.04
  // A picture smaller than a cell, beside which there is padding only.
  const PictureWindow padded{.original = {10, 10}, .resized = {10, 10}, .input = {640, 320}};
  EXPECT_EQ(PatchGrid::of_features(padded, 32).cover(), (PicturePoint{1, 1}));
  // Without anything over the edge it is the picture.
  const PictureWindow whole{.original = {64, 96}, .resized = {128, 192}, .input = {128, 192}};
  const PatchGrid patches = PatchGrid::of_patches(whole, 16);
  EXPECT_EQ(patches.cover(), (PicturePoint{8, 12}));
  EXPECT_EQ(patches.filled_size(), (PictureSize{64, 96}));
}

TEST(PatchGrid, CountsWholePatchesOrCellsThatReachOverTheEdge) {
  const PictureWindow window{.original = {100, 70}, .resized = {100, 70}, .input = {100, 70}};
  const PatchGrid patches = PatchGrid::of_patches(window, 32);
  EXPECT_EQ(patches.columns(), 3);
  EXPECT_EQ(patches.rows(), 2);
  EXPECT_EQ(patches.patch_of_pixel(97, 0), std::nullopt);
  const PatchGrid cells = PatchGrid::of_features(window, 32);
  EXPECT_EQ(cells.columns(), 4);
  EXPECT_EQ(cells.rows(), 3);
  EXPECT_EQ(cells.patch_of_pixel(97, 0), 3);
  EXPECT_EQ(cells.rectangle(3), (PictureRectangle{96, 0, 100, 32}));
  EXPECT_EQ(cells.cover(), (PicturePoint{100.0 / 32, 70.0 / 32}));
  EXPECT_EQ(cells.filled_size(), (PictureSize{128, 96}));
  EXPECT_THROW(PatchGrid::of_patches(window, 71), Error);
  EXPECT_THROW(PatchGrid::of_patches(window, 0), Error);
}

}  // namespace
}  // namespace fovea
