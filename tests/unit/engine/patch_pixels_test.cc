#include "fovea/engine/patch_pixels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace fovea {
namespace {

// Seen whole; cut to the middle; enlarged; padded at the right and the bottom.
const PictureWindow kWindows[] = {{{64, 48}, {64, 48}, {64, 48}, 0, 0},
                                  {{101, 57}, {71, 40}, {32, 32}, 19, 4},
                                  {{7, 5}, {56, 40}, {56, 40}, 0, 0},
                                  {{50, 30}, {50, 30}, {64, 32}, 0, 0}};

GridMask every_third(GridShape grid) {
  GridMask mask(grid);
  for (size_t i = 0; i < mask.cells.size(); i += 3) mask.cells[i] = 1;
  return mask;
}

bool near_an_edge(const PictureRectangle& part, double x, double y) {
  // Two divisions there and back: a centre on the edge itself may fall to either side.
  const auto close = [](double a, double b) { return std::abs(a - b) < 1e-9; };
  return close(x, part.left) || close(x, part.right) || close(y, part.top) || close(y, part.bottom);
}

TEST(PixelMask, HoldsThePixelsOfItsPatches) {
  for (const PictureWindow& window : kWindows) {
    const PatchGrid grid = PatchGrid::of_patches(window, 8);
    const GridMask mask = every_third({grid.rows(), grid.columns()});
    const LabelMask pixels = pixel_mask(grid, mask, 7);
    ASSERT_EQ(pixels.size, window.original);
    for (int64_t y = 0; y < window.original.height; ++y) {
      for (int64_t x = 0; x < window.original.width; ++x) {
        const std::optional<int64_t> patch = grid.patch_of_pixel(x, y);
        if (patch && near_an_edge(grid.rectangle(*patch), static_cast<double>(x) + 0.5,
                                  static_cast<double>(y) + 0.5)) {
          continue;
        }
        const uint8_t expected = patch && mask.holds(*patch) ? 7 : 0;
        ASSERT_EQ(pixels.labels[static_cast<size_t>(y * window.original.width + x)], expected)
            << x << "," << y;
      }
    }
  }
}

TEST(PixelMask, RefusesAMaskOfAnotherGrid) {
  const PatchGrid grid = PatchGrid::of_patches(kWindows[0], 8);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 x 2", [&] {
    pixel_mask(grid, GridMask({2, 2}));
  }));
}

TEST(PixelBox, ReachesFromTheFirstPatchToTheLast) {
  const PatchGrid grid = PatchGrid::of_patches({{128, 96}, {64, 48}, {64, 48}, 0, 0}, 8);
  EXPECT_EQ(pixel_box(grid, {.top = 1, .left = 2, .bottom = 3, .right = 8}),
            (PictureBox{32, 16, 128, 48}));
  EXPECT_EQ(pixel_box(grid, {}), PictureBox());
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "leaves a grid",
                         [&] { pixel_box(grid, {.top = 0, .left = 0, .bottom = 7, .right = 1}); }));
}

TEST(PixelBox, EndsWhereThePictureEndsAndPaddingBegins) {
  const PatchGrid grid = PatchGrid::of_patches(kWindows[3], 8);
  EXPECT_EQ(pixel_box(grid, {.top = 0, .left = 0, .bottom = 4, .right = 8}),
            (PictureBox{0, 0, 50, 30}));
}

}  // namespace
}  // namespace fovea
