#include "fovea/explain/pictures/pixel_mask.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The two cells that a pixel lies between, and how much of the second one is in it.
struct Blend {
  size_t first = 0;
  size_t second = 0;
  double share = 0;
};

std::vector<Blend> blends(int64_t pixels, int64_t cells, double covered) {
  std::vector<Blend> result(static_cast<size_t>(pixels));
  for (size_t i = 0; i < result.size(); ++i) {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(pixels) * covered;
    const double at = std::clamp(place - 0.5, 0.0, static_cast<double>(cells - 1));
    const double below = std::floor(at);
    result[i].first = static_cast<size_t>(below);
    result[i].second = std::min(result[i].first + 1, static_cast<size_t>(cells - 1));
    result[i].share = at - below;
  }
  return result;
}

}  // namespace

PixelMask::PixelMask(int64_t mask_width, int64_t mask_height)
    : width(mask_width), height(mask_height) {
  if (width < 1 || height < 1 || width > (int64_t{1} << 40) / height) {
    fail(ErrorKind::kInvalidArgument, "a mask cannot have {} x {} pixels", width, height);
  }
  pixels.resize(static_cast<size_t>(width * height));
}

int64_t PixelMask::count() const {
  return std::ranges::count_if(pixels, [](uint8_t pixel) { return pixel != 0; });
}

PixelMask pixels_above(GridShape grid, std::span<const double> values, double threshold,
                       GridCover cover, int64_t width, int64_t height) {
  if (grid.patches() < 1 || static_cast<int64_t>(values.size()) != grid.patches()) {
    fail(ErrorKind::kInvalidArgument, "{} values were given for a grid of {} x {} cells",
         values.size(), grid.rows, grid.cols);
  }
  if (!(cover.rows > 0 && cover.rows <= static_cast<double>(grid.rows) && cover.cols > 0 &&
        cover.cols <= static_cast<double>(grid.cols))) {
    fail(ErrorKind::kInvalidArgument, "a picture cannot lie under {} x {} of {} x {} cells",
         cover.rows, cover.cols, grid.rows, grid.cols);
  }
  PixelMask mask(width, height);
  const std::vector<Blend> across = blends(width, grid.cols, cover.cols);
  const std::vector<Blend> down = blends(height, grid.rows, cover.rows);
  const auto cols = static_cast<size_t>(grid.cols);
  uint8_t* out = mask.pixels.data();
  for (const Blend& y : down) {
    const double* above = values.data() + y.first * cols;
    const double* below = values.data() + y.second * cols;
    for (const Blend& x : across) {
      const double top = above[x.first] * (1 - x.share) + above[x.second] * x.share;
      const double bottom = below[x.first] * (1 - x.share) + below[x.second] * x.share;
      *out++ = top * (1 - y.share) + bottom * y.share > threshold ? 1 : 0;
    }
  }
  return mask;
}

PixelMask to_pixels(const GridMask& mask, GridCover cover, int64_t width, int64_t height) {
  const std::vector<double> values(mask.cells.begin(), mask.cells.end());
  return pixels_above(mask.grid, values, 0.5, cover, width, height);
}

PixelMask within(PixelMask mask, const PictureBox& box) {
  for (int64_t y = 0; y < mask.height; ++y) {
    const double row = static_cast<double>(y) + 0.5;
    for (int64_t x = 0; x < mask.width; ++x) {
      const double column = static_cast<double>(x) + 0.5;
      const bool inside =
          row >= box.top && row < box.bottom && column >= box.left && column < box.right;
      if (!inside) mask.pixels[static_cast<size_t>(y * mask.width + x)] = 0;
    }
  }
  return mask;
}

}  // namespace fovea
