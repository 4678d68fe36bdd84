// What rows of attention weights are like: where the largest lies, and sums over their cells.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct RowPeak {
  float largest = 0;        // 0: the row sees nothing
  int64_t place = 0;        // of the first weight that is as large
  float largest_plain = 0;  // among columns that are plain
};

struct CellSums {
  double weight = 0;    // sum A(i, j)
  double distance = 0;  // sum A(i, j) |i - j|
  double marked = 0;    // sum A(i, j) marked[j]
};

// Of rows [row, row + weights.rows) of a map, all columns: their peaks, and what their cells add to
// `sums`. `plain` and `marked` are 0 or 1 for each column. Weights are not negative.
void summarize_rows(MatrixView<const float> weights, int64_t row, std::span<const float> plain,
                    std::span<const float> marked, std::span<RowPeak> peaks, CellSums& sums);

}  // namespace fovea
