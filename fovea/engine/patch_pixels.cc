#include "fovea/engine/patch_pixels.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The first pixel whose centre is at `edge` or behind it.
int64_t first_pixel(double edge) {
  return static_cast<int64_t>(std::ceil(edge - 0.5));
}

}  // namespace

LabelMask pixel_mask(const PatchGrid& grid, const GridMask& mask, uint8_t label) {
  if (mask.grid != GridShape{grid.rows(), grid.columns()}) {
    fail(ErrorKind::kInvalidArgument, "a mask of {} x {} patches does not fit a grid of {} x {}",
         mask.grid.rows, mask.grid.cols, grid.rows(), grid.columns());
  }
  LabelMask pixels(grid.window().original);
  for (int64_t patch = 0; patch < grid.patches(); ++patch) {
    if (!mask.holds(patch)) continue;
    const PictureRectangle part = grid.rectangle(patch);
    const int64_t left = first_pixel(part.left);
    const int64_t count = first_pixel(part.right) - left;
    for (int64_t y = first_pixel(part.top); y < first_pixel(part.bottom) && count > 0; ++y) {
      std::fill_n(pixels.labels.begin() + y * pixels.size.width + left, count, label);
    }
  }
  return pixels;
}

PictureBox pixel_box(const PatchGrid& grid, const GridBox& box) {
  if (box.right <= box.left || box.bottom <= box.top) return {};
  if (box.left < 0 || box.top < 0 || box.right > grid.columns() || box.bottom > grid.rows()) {
    fail(ErrorKind::kInvalidArgument,
         "a box of rows {} to {} and columns {} to {} leaves a grid of {} x {}", box.top,
         box.bottom, box.left, box.right, grid.rows(), grid.columns());
  }
  const PictureRectangle first = grid.rectangle(box.top * grid.columns() + box.left);
  const PictureRectangle last = grid.rectangle((box.bottom - 1) * grid.columns() + box.right - 1);
  return {first.left, first.top, last.right, last.bottom};
}

}  // namespace fovea
