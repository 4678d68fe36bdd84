#include "fovea/vision/seen_part.h"

#include <algorithm>
#include <cmath>

#include "fovea/vision/resize.h"

namespace fovea {
namespace {

constexpr Rgb kPadding{128, 128, 128};

}  // namespace

Picture seen_part(const Picture& picture, const PatchGrid& grid, int64_t longest) {
  const PictureRectangle extent = grid.extent();
  const int64_t left = std::llround(extent.left), top = std::llround(extent.top);
  const int64_t right = std::max(left + 1, static_cast<int64_t>(std::llround(extent.right)));
  const int64_t bottom = std::max(top + 1, static_cast<int64_t>(std::llround(extent.bottom)));
  Picture part(right - left, bottom - top, kPadding);
  const int64_t from = std::clamp<int64_t>(left, 0, picture.width);
  const int64_t to = std::clamp<int64_t>(right, from, picture.width);
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(bottom, picture.height); ++y) {
    std::copy_n(picture.row(y) + from * 3, (to - from) * 3, part.row(y - top) + (from - left) * 3);
  }
  const int64_t side = std::max(part.width, part.height);
  if (side <= longest) return part;
  return resize(part,
                {std::max<int64_t>(1, part.width * longest / side),
                 std::max<int64_t>(1, part.height * longest / side)},
                ResizeFilter::kBicubic, ResizeRule::kPillow);
}

PatchGrid grid_over(PictureSize seen, int64_t rows, int64_t columns) {
  const PictureSize cells{columns, rows};
  return PatchGrid::of_patches({.original = seen, .resized = cells, .input = cells}, 1);
}

}  // namespace fovea
