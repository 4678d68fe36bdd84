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
  // Nothing inside. Throws Error{kInvalidArgument} unless both sides are 1 or more.
  PixelMask(int64_t mask_width, int64_t mask_height);

  int64_t count() const;
  bool operator==(const PixelMask&) const = default;
};

// How many cells of a grid lie over the picture; the last ones may reach over its edge.
struct GridCover {
  double rows = 0;
  double cols = 0;
};

// Where `values`, one per cell, are above `threshold` once they are blended between the centres of
// cells (bilinear, corners not aligned, as PyTorch's interpolate), in a picture of width x height.
// Throws Error{kInvalidArgument} unless the values fit the grid and the cover is within it.
PixelMask pixels_above(GridShape grid, std::span<const double> values, double threshold,
                       GridCover cover, int64_t width, int64_t height);

// The same edge as the grid's, rounded off: where more than half of the blend is inside.
PixelMask to_pixels(const GridMask& mask, GridCover cover, int64_t width, int64_t height);

// The part whose pixels' centres lie in the box.
PixelMask within(PixelMask mask, const PictureBox& box);

}  // namespace fovea
