#include "fovea/attention/vector_set.h"

#include <algorithm>

namespace fovea {
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

Matrix picture_of_values(const PixelGrid& grid, std::span<const double> values) {
  if (static_cast<int64_t>(values.size()) != grid.size()) {
    fail(ErrorKind::kInvalidArgument, "a picture of {} x {} needs {} values but {} were given",
         grid.width, grid.height, grid.size(), values.size());
  }
  Matrix picture(grid.height, grid.width);
  for (int64_t row = 0; row < grid.height; ++row) {
    const auto first = static_cast<size_t>(row * grid.width);
    std::ranges::copy(values.subspan(first, static_cast<size_t>(grid.width)),
                      picture.row(row).begin());
  }
  return picture;
}

}  // namespace fovea
