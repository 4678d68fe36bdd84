#include "fovea/vision/seen_part.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

// Every pixel says where it is.
Picture numbered(int64_t width, int64_t height) {
  Picture picture(width, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      picture.set(x, y, {static_cast<uint8_t>(x), static_cast<uint8_t>(y), 7});
    }
  }
  return picture;
}

TEST(SeenPart, IsWhatLiesUnderTheGrid) {
  // Columns 10 to 49 and rows 0 to 29 are cut out; of these 9 x 7 patches of 4 x 4 are seen.
  const PictureWindow window{
      .original = {60, 30}, .resized = {60, 30}, .input = {39, 30}, .left = 10, .top = 0};
  const Picture part = seen_part(numbered(60, 30), PatchGrid::of_patches(window, 4));
  EXPECT_EQ(part.size(), (PictureSize{36, 28}));
  EXPECT_EQ(part.at(0, 0), (Rgb{10, 0, 7}));
  EXPECT_EQ(part.at(35, 27), (Rgb{45, 27, 7}));
}

TEST(SeenPart, IsGreyWhereTheGridReachesOverTheEdge) {
  const PictureWindow window{.original = {20, 10}, .resized = {20, 10}, .input = {20, 10}};
  const Picture part = seen_part(numbered(20, 10), PatchGrid::of_features(window, 8));
  EXPECT_EQ(part.size(), (PictureSize{24, 16}));
  EXPECT_EQ(part.at(19, 9), (Rgb{19, 9, 7}));
  EXPECT_EQ(part.at(20, 9), (Rgb{128, 128, 128}));
  EXPECT_EQ(part.at(19, 10), (Rgb{128, 128, 128}));
}

TEST(SeenPart, KeepsPaddingInFrontOfThePicture) {
  const PictureWindow window{
      .original = {8, 4}, .resized = {8, 4}, .input = {8, 8}, .left = 0, .top = -2};
  const Picture part = seen_part(numbered(8, 4), PatchGrid::of_patches(window, 4));
  EXPECT_EQ(part.size(), (PictureSize{8, 8}));
  EXPECT_EQ(part.at(3, 1), (Rgb{128, 128, 128}));
  EXPECT_EQ(part.at(3, 2), (Rgb{3, 0, 7}));
  EXPECT_EQ(part.at(3, 6), (Rgb{128, 128, 128}));
}

TEST(SeenPart, IsMadeSmallWithItsShape) {
  const PictureWindow window{
      .original = {1000, 500}, .resized = {64, 64}, .input = {64, 64}};  // squeezed by the model
  const PatchGrid grid = PatchGrid::of_patches(window, 8);
  EXPECT_EQ(seen_part(numbered(1000, 500), grid).size(), (PictureSize{448, 224}));
  EXPECT_EQ(seen_part(numbered(1000, 500), grid, 100).size(), (PictureSize{100, 50}));
}

TEST(SeenPart, HasTheSameGridOverIt) {
  const PatchGrid grid = grid_over({100, 30}, 3, 7);
  EXPECT_EQ(grid.rows(), 3);
  EXPECT_EQ(grid.columns(), 7);
  EXPECT_EQ(grid.patch_of_pixel(0, 0), 0);
  EXPECT_EQ(grid.patch_of_pixel(99, 29), 20);
  const PictureRectangle last = grid.rectangle(20);
  EXPECT_NEAR(last.left, 600.0 / 7, 1e-9);
  EXPECT_NEAR(last.bottom, 30, 1e-9);
}

}  // namespace
}  // namespace fovea
