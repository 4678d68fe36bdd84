#include "fovea/engine/patch_axis.h"

#include <fmt/format.h>

#include "fovea/layers/cell_positions.h"

namespace fovea {

Axis patch_axis(const PictureFacts& facts, const Tensor& pixels) {
  Axis axis{.name = "patches"};
  if (pixels.rank() != 3) return axis;
  const int64_t rows = pixels.size(1) / facts.patch_height;
  const int64_t cols = pixels.size(2) / facts.patch_width;
  if (rows == 0 || cols == 0 || rows > kMostPatches / cols) return axis;
  axis.grid_rows = rows;
  axis.grid_cols = cols;
  for (const std::string& token : facts.front_tokens) {
    axis.positions.push_back({.text = token, .special = true});
  }
  for (int64_t row = 0; row < axis.grid_rows; ++row) {
    for (int64_t col = 0; col < axis.grid_cols; ++col) {
      axis.positions.push_back({.text = fmt::format("patch {},{}", row, col)});
    }
  }
  return axis;
}

Axis cell_axis(const ObjectFacts& facts, const Tensor& pixels, const Tensor& pixel_mask) {
  Axis axis{.name = "cells"};
  if (pixels.rank() != 3 || pixels.empty()) return axis;
  const int64_t stride = facts.stride;
  const int64_t rows = (pixels.size(1) + stride - 1) / stride;
  const int64_t cols = (pixels.size(2) + stride - 1) / stride;
  const bool fits =
      pixel_mask.empty() || (pixel_mask.dtype() == DType::kI64 &&
                             pixel_mask.shape() == Shape{pixels.size(1), pixels.size(2)});
  if (rows > kMostPatches / cols || !fits) return axis;
  const CellGrid grid = cell_grid(rows, cols, pixel_mask);
  axis.grid_rows = rows;
  axis.grid_cols = cols;
  for (int64_t cell = 0; cell < grid.cells(); ++cell) {
    axis.positions.push_back(
        {.text = fmt::format("cell {},{}", cell / cols, cell % cols),
         .special = !grid.valid.empty() && grid.valid[static_cast<size_t>(cell)] == 0});
  }
  return axis;
}

Axis query_axis(const ObjectFacts& facts) {
  Axis axis{.name = "queries"};
  for (int64_t query = 0; query < facts.queries; ++query) {
    axis.positions.push_back({.text = fmt::format("query {}", query)});
  }
  return axis;
}

Axis pool_axis() {
  return {.name = "pool", .positions = {{.text = "[POOL]", .special = true}}};
}

}  // namespace fovea
