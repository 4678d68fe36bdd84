// Softmax over the rows of a matrix.
#pragma once

#include <span>

#include "fovea/tensor/view.h"

namespace fovea {

// weights(i, j) = exp(scores(i, j) - lse(i)), lse(i) = log sum_j exp scores(i, j). An entry of
// -infinity gets weight 0; a row of nothing else gets zeros and lse 0; a row with NaN becomes NaN.
// `weights` may be `scores`. `lse` has one entry per row or is empty.
void softmax_rows(MatrixView<const float> scores, MatrixView<float> weights,
                  std::span<float> lse = {});

}  // namespace fovea
