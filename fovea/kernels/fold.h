// Folding the rows of a block of weights into one row: what column sums need.
#pragma once

#include <span>

#include "fovea/tensor/view.h"

namespace fovea {

// sums[c] += sum_r weights[r] * block(r, c). One entry per row and per column.
void fold_weighted(MatrixView<const float> block, std::span<const float> weights,
                   std::span<float> sums);

}  // namespace fovea
