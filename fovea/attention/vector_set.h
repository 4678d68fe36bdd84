// A picture as a set of vectors: attention has no notion of rows and columns, so a 5 x 10 picture
// of 3 channels is 50 vectors of width 3, row by row from the top left.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/matrix.h"

namespace fovea {

struct PixelPlace {
  int64_t row = 0;     // y, from the top
  int64_t column = 0;  // x, from the left
  bool operator==(const PixelPlace& other) const = default;
};

struct PixelGrid {
  int64_t height = 0;
  int64_t width = 0;

  int64_t size() const { return height * width; }
  // The vector of a pixel, and back. Both throw Error{kInvalidArgument} outside the picture.
  int64_t index_of(PixelPlace place) const;
  PixelPlace place_of(int64_t index) const;
};

// Turns one number per vector back into a picture of height x width.
Matrix picture_of_values(const PixelGrid& grid, std::span<const double> values);

}  // namespace fovea
