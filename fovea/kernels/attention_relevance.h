// What a gradient leaves of an attention (Chefer et al. 2021, arXiv:2103.15679, eq. 5):
//
//   E(i, j) = mean over heads h of max(0, A_h(i, j) * dA_h(i, j)),   dA_h(i, j) = dO_h,i . V_h,j
//
// E is never stored, nor A or dA: its products with a vector are summed up tile by tile.
#pragma once

#include <span>
#include <vector>

#include "fovea/kernels/attention.h"

namespace fovea {

// An attention with values, its LSE [heads * rows] and the gradient dO [heads, rows, value_dim] at
// its heads' outputs. What it refers to must outlive it.
struct GradedAttention {
  AttentionInputs inputs;
  std::span<const double> lse;
  HeadsView out_gradient;
};

// Throws Error{kInvalidArgument} unless all parts fit together.
void validate(const GradedAttention& attention);

// result[j] = sum_i weights[i] E(i, j), one weight per row; rows of weight 0 or without a gradient
// cost nothing. `attention` must have passed validate(). Uses all threads; time rows * cols *
// (head_dim + value_dim) for each head, less where the mask's range forbids; memory O((rows +
// cols) * dim).
std::vector<double> relevance_times_left(const GradedAttention& attention,
                                         std::span<const double> weights);

// result[i] = sum_j E(i, j) x[j], one entry per column; the same otherwise.
std::vector<double> relevance_times_right(const GradedAttention& attention,
                                          std::span<const double> x);

}  // namespace fovea
