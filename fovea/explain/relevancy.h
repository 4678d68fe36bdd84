// Generic attention explainability (Chefer, Gur & Wolf 2021, arXiv:2103.15679): how much each
// position contributes to one number of the output, by attention and its gradient.
//
//   E_l = mean over heads of max(0, A_l * dA_l)     dA: gradient of the number, never its softmax
//
// One stack: R = (I + E_L) ... (I + E_1). The map is the row of R that the output reads. For an
// encoder and a decoder, each layer l has E_l for self- and C_l for cross-attention:
//
//   R_ii = (I + E_enc) ... (I + E_1)                   the encoder, eq. 6
//   R_qq <- R_qq + E_l R_qq,  R_qi <- R_qi + E_l R_qi  eq. 6 and 7
//   R_qi <- R_qi + N(R_qq)^T C_l N(R_ii)               eq. 10, after the self-attention of layer l
//   N(R) = (R - I) / its row sums + I                  eq. 8 and 9
//
// The map is the row of R_qi. Rows of R - I that sum to 0 stay 0 in N. No matrix is ever stored: a
// row of R is a vector that passes through the layers from the last to the first, and N(R) x is a
// vector that passes from the first to the last. Time O(L N^2 d), memory O(N d).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"
#include "fovea/explain/rollout.h"

namespace fovea {

// Computes r E: one number per column. The record needs values and an output gradient. Throws
// Error{kInvalidArgument} without them, or unless `r` has one number per row.
std::vector<double> relevancy_times_left(const AttentionRecord& record, std::span<const double> r);
// Computes E x: one number per row.
std::vector<double> relevancy_times_right(const AttentionRecord& record, std::span<const double> x);

// The rows that the output reads: those of the stack's last attention that have a gradient. All
// have the same weight and sum to 1. All are 0 if the output reads none.
std::vector<double> rows_read(const AttentionRecord& last);

// Passes `r` through a layer of self-attention: r <- r + r E.
void pass_relevancy(const AttentionRecord& record, std::vector<double>& r);

// The layers of an encoder and a decoder, each from first to last, with values and gradients.
// Layers that the output does not depend on may be missing.
struct RelevancyStacks {
  LayerRecords encoder;
  LayerRecords decoder;
  LayerRecords cross;
};

// What to do in a layer where a row of R_qq - I or R_ii - I sums to 0.
enum class ZeroRows {
  kIdentity,    // N has the row of I there: 0 / 0 counts as 0
  kDropsLayer,  // the authors' program: 0 / 0 is NaN, every cell of the term becomes NaN, then 0
};

struct CrossRelevancy {
  std::vector<double> source;  // over the encoder's positions
  int64_t zero_layers = 0;     // cross-attention layers where ZeroRows mattered
};
// The sum of the rows of R_qi with these weights. Throws Error{kInvalidArgument} if layers do not
// fit together.
CrossRelevancy cross_relevancy(const RelevancyStacks& stacks, std::span<const double> rows,
                               ZeroRows zero_rows);

}  // namespace fovea
