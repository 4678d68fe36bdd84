// The area of an object in the pixels of its picture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/explain/pictures/picture_score.h"

namespace fovea {

// One byte per pixel row by row, 1 inside and 0 outside.
struct PixelMask {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;

  PixelMask() = default;
  // A mask with nothing inside. Throws Error{kInvalidArgument} unless both sides are 1 or more.
  PixelMask(int64_t mask_width, int64_t mask_height);

  int64_t count() const;
  bool operator==(const PixelMask&) const = default;
};

// How many cells of a grid lie over the picture; the last ones may reach over its edge.
struct GridCover {
  double rows = 0;
  double cols = 0;
};

// The pixels of a width x height picture where the blended `values` are above `threshold`. There is
// one value per cell; they are blended between the centres of cells (bilinear, corners not aligned,
// as PyTorch's interpolate). Throws Error{kInvalidArgument} unless the values fit the grid and the
// cover is within it.
PixelMask pixels_above(GridShape grid, std::span<const double> values, double threshold,
                       GridCover cover, int64_t width, int64_t height);

// Enlarges a grid's mask to pixels and rounds its edge: a pixel is inside if more than half of the
// blend there is.
PixelMask to_pixels(const GridMask& mask, GridCover cover, int64_t width, int64_t height);

// The part of the mask whose pixels have their centres in the box.
PixelMask within(PixelMask mask, const PictureBox& box);

}  // namespace fovea
