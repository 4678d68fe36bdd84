#include "fovea/engine/patch_axis.h"

#include <fmt/format.h>

namespace fovea {

Axis patch_axis(const ModelFacts& facts, const Tensor& pixels) {
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

Axis pool_axis() {
  return {.name = "pool", .positions = {{.text = "[POOL]", .special = true}}};
}

}  // namespace fovea
