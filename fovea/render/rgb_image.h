// A picture in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/render/color_map.h"

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
};

}  // namespace fovea
