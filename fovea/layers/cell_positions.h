// Positions of the cells of a feature map, which DETR's transformer reads (Carion et al. 2020,
// arXiv:2005.12872).
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/layers/layer_source.h"

namespace fovea {

struct CellGrid {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<int64_t> valid;  // row by row, 0 where a cell shows padding; empty: all show picture

  int64_t cells() const { return rows * cols; }
};

// Finds which cells show padding. `pixel_mask` is i64 [height, width], 0 for padding, or empty. A
// cell looks at the pixel that PyTorch's nearest interpolation takes.
CellGrid cell_grid(int64_t rows, int64_t cols, const Tensor& pixel_mask);

// f32 [cells, width]: sines of the row, then of the column. Both count only cells that show the
// picture, and are scaled so that the last is 2 pi. `width` is a multiple of 4.
Tensor sine_cell_positions(const CellGrid& grid, int64_t width);

// f32 [cells, width]: the column's entry of one table, then the row's entry of the other. Both
// tables are f32 [entries, width / 2]. Throws Error{kInvalidArgument} if the grid is larger.
Tensor learned_cell_positions(const CellGrid& grid, const Tensor& rows, const Tensor& columns);

}  // namespace fovea
