#include "fovea/layers/cell_positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr float kTemperature = 10000;

// The entry of `from` that PyTorch's nearest interpolation puts at `index` of `to`; in f32, as
// there.
int64_t nearest(int64_t index, int64_t from, int64_t to) {
  const float step = static_cast<float>(from) / static_cast<float>(to);
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>(index) * step)), from - 1);
}

// sin and cos of place / temperature^(2 floor(k / 2) / count), k = 0 ... count - 1. The angles are
// rounded to f32 step by step as transformers does: maps of sharp heads show the difference.
void write_sines(float place, std::span<float> out) {
  const auto count = static_cast<float>(out.size());
  for (size_t k = 0; k < out.size(); ++k) {
    const float exponent = static_cast<float>(k / 2 * 2) / count;
    const float angle = place / std::pow(kTemperature, exponent);
    out[k] = k % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }
}

// How far along its line a cell stands: it is the `count`-th of `total` that show the picture.
float place_of(int64_t count, int64_t total) {
  return static_cast<float>(count) / (static_cast<float>(total) + 1e-6F) *
         static_cast<float>(2 * std::numbers::pi);
}

}  // namespace

CellGrid cell_grid(int64_t rows, int64_t cols, const Tensor& pixel_mask) {
  CellGrid grid{.rows = rows, .cols = cols};
  if (pixel_mask.empty()) return grid;
  const std::span<const int64_t> pixels = pixel_mask.values<int64_t>();
  const int64_t height = pixel_mask.size(0), width = pixel_mask.size(1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      const int64_t pixel = nearest(row, height, rows) * width + nearest(col, width, cols);
      grid.valid.push_back(pixels[static_cast<size_t>(pixel)] != 0 ? 1 : 0);
    }
  }
  if (std::ranges::count(grid.valid, 0) == 0) grid.valid.clear();
  return grid;
}

Tensor sine_cell_positions(const CellGrid& grid, int64_t width) {
  FOVEA_ASSERT(width % 4 == 0);
  const auto is_valid = [&](int64_t row, int64_t col) {
    return grid.valid.empty() ? 1 : grid.valid[static_cast<size_t>(row * grid.cols + col)];
  };
  std::vector<int64_t> in_col(static_cast<size_t>(grid.cols));
  for (int64_t col = 0; col < grid.cols; ++col) {
    for (int64_t row = 0; row < grid.rows; ++row)
      in_col[static_cast<size_t>(col)] += is_valid(row, col);
  }
  Tensor positions = Tensor::uninitialized({grid.cells(), width});
  const auto half = static_cast<size_t>(width / 2);
  std::vector<int64_t> above(in_col.size());
  for (int64_t row = 0; row < grid.rows; ++row) {
    int64_t in_row = 0, before = 0;
    for (int64_t col = 0; col < grid.cols; ++col) in_row += is_valid(row, col);
    for (int64_t col = 0; col < grid.cols; ++col) {
      const auto c = static_cast<size_t>(col);
      before += is_valid(row, col);
      above[c] += is_valid(row, col);
      const auto cell = static_cast<size_t>(row * grid.cols + col);
      const std::span<float> out =
          positions.mutable_values<float>().subspan(2 * half * cell, 2 * half);
      write_sines(place_of(above[c], in_col[c]), out.first(half));
      write_sines(place_of(before, in_row), out.last(half));
    }
  }
  return positions;
}

Tensor learned_cell_positions(const CellGrid& grid, const Tensor& rows, const Tensor& columns) {
  if (grid.rows > rows.size(0) || grid.cols > columns.size(0)) {
    fail(ErrorKind::kInvalidArgument,
         "the picture gives {} x {} cells but this model has learned positions for {} x {} only; "
         "make it smaller",
         grid.cols, grid.rows, columns.size(0), rows.size(0));
  }
  const auto half = static_cast<size_t>(rows.size(1));
  Tensor positions = Tensor::uninitialized({grid.cells(), 2 * rows.size(1)});
  for (int64_t cell = 0; cell < grid.cells(); ++cell) {
    const std::span<float> out =
        positions.mutable_values<float>().subspan(2 * half * static_cast<size_t>(cell), 2 * half);
    const auto row = static_cast<size_t>(cell / grid.cols),
               col = static_cast<size_t>(cell % grid.cols);
    std::ranges::copy(columns.values<float>().subspan(col * half, half), out.begin());
    std::ranges::copy(rows.values<float>().subspan(row * half, half),
                      out.begin() + static_cast<int64_t>(half));
  }
  return positions;
}

}  // namespace fovea
