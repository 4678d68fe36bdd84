// How long the vectors are that an attention block adds up (explain/block_sum.h). This weighs
// attention by the lengths of what it moves (Kobayashi et al. 2020, arXiv:2004.10102), if wanted
// with the residual and the norm (2021, arXiv:2109.07152).
//
//   N_ij = || T_ij + [i = j] r_i ||
//
// One row is computed directly, in N H d. For all rows there is a Gram matrix for each column, so
// that the sum is over heads, not dimensions, in N^2 H^2 time and N H^2 memory:
//
//   || T_ij || = s_i sqrt(a^T G_j a)    a = (A_1(i, j) .. A_H(i, j)),  G_j(h, g) = g_h(j) . g_g(j)
#pragma once

#include "fovea/explain/block_sum.h"

namespace fovea {

// The norms of row i over the columns; in cross-attention with the residual, || r_i || comes last.
// `head`: what that head brings by itself. Throws Error{kInvalidArgument} if there is no such row
// or head, or if a head is asked for with more than attention.
std::vector<double> value_norm_row(const std::shared_ptr<const AttentionRecord>& record, int64_t i,
                                   BlockExtent extent, std::optional<int64_t> head = {});

// How much of each row comes from elsewhere. With a = the length of the sum over all j but i, and b
// = the length of what row i keeps of itself, it is a / (a + b). In cross-attention all columns
// stand against the residual.
std::vector<double> mixing_ratios(const std::shared_ptr<const AttentionRecord>& record,
                                  BlockExtent extent);
// The same for the rows of `sum`.
std::vector<double> mixing_ratios(const BlockSum& sum);

// G_j for every column, row-major [heads, heads], one after the other.
std::vector<double> value_grams(const BlockSum& sum);
// sqrt(a^T G a) for one of these matrices.
double gram_norm(std::span<const double> a, const double* gram);

}  // namespace fovea
