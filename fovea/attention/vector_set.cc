#include "fovea/attention/vector_set.h"

#include <algorithm>

namespace fovea {
namespace {

Matrix filled(int64_t rows, int64_t cols, std::span<const double> values) {
  Matrix matrix(rows, cols);
  for (int64_t r = 0; r < rows; ++r) {
    std::ranges::copy(values.subspan(static_cast<size_t>(r * cols), static_cast<size_t>(cols)),
                      matrix.row(r).begin());
  }
  return matrix;
}

}  // namespace

int64_t PixelGrid::index_of(PixelPlace place) const {
  if (place.row < 0 || place.row >= height || place.column < 0 || place.column >= width) {
    fail(ErrorKind::kInvalidArgument,
         "pixel x {}, y {} is outside the picture of {} x {}; x runs from 0 to {}, y from 0 to {}",
         place.column, place.row, width, height, width - 1, height - 1);
  }
  return place.row * width + place.column;
}

PixelPlace PixelGrid::place_of(int64_t index) const {
  if (index < 0 || index >= size()) {
    fail(ErrorKind::kInvalidArgument, "vector {} is not in the picture of {} x {}, which has {}",
         index, width, height, size());
  }
  return {.row = index / width, .column = index % width};
}

Matrix vectors_of_picture(const PixelGrid& grid, int64_t channels, std::span<const double> pixels) {
  if (grid.height < 0 || grid.width < 0 || channels < 0 ||
      static_cast<int64_t>(pixels.size()) != grid.size() * channels) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of height {}, width {} and {} channels cannot be made of {} numbers",
         grid.height, grid.width, channels, pixels.size());
  }
  return filled(grid.size(), channels, pixels);
}

Matrix picture_of_values(const PixelGrid& grid, std::span<const double> values) {
  if (static_cast<int64_t>(values.size()) != grid.size()) {
    fail(ErrorKind::kInvalidArgument, "a picture of {} x {} needs {} values but {} were given",
         grid.width, grid.height, grid.size(), values.size());
  }
  return filled(grid.height, grid.width, values);
}

}  // namespace fovea
