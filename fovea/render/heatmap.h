// A matrix as coloured squares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/render/color_map.h"
#include "fovea/tensor/view.h"

namespace fovea {

// Pixels row by row from the top left, three bytes each.
struct RgbImage {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;

  // Throws Error{kInvalidArgument} on a negative size or more than 2^28 pixels.
  RgbImage(int64_t image_width, int64_t image_height, Rgb fill = {});
  Rgb at(int64_t x, int64_t y) const;
  void set(int64_t x, int64_t y, Rgb color);
  // Throws Error{kInvalidArgument} if `part` does not fit there.
  void paste(const RgbImage& part, int64_t x, int64_t y);
};

struct HeatmapStyle {
  int64_t cell = 24;  // side of a square in pixels
  double low = 0;     // the value of the lowest colour
  double high = 1;    // the value of the highest
};

// One square per entry. NaN is drawn as grey hatching: not a small number, but no number.
RgbImage heatmap(MatrixView<const float> values, const HeatmapStyle& style,
                 const ColorMap& colors = inferno());

// Several matrices in one row on one scale from 0 to the largest entry, with a margin and a colour
// bar at the right. The squares are as large as is sensible, 16 pixels or more for up to 128
// columns.
RgbImage heatmap_row(std::span<const MatrixView<const float>> panels,
                     const ColorMap& colors = inferno());

}  // namespace fovea
