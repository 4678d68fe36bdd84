// Streaming attention: the output and the log-sum-exp of every row in one pass over blocks of keys,
// never an N x N matrix (online softmax, Milakov & Gimelshein 2018, arXiv:1805.02867; blocked as in
// FlashAttention, Dao et al. 2022, arXiv:2205.14135).
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/score_rule.h"
#include "fovea/kernels/heads_view.h"

namespace fovea {

inline constexpr int64_t kMaxHeadDim = 256;

// One attention: what is read. The rule must outlive the value.
struct AttentionInputs {
  HeadsView queries;  // [heads, rows, head_dim]
  HeadsView keys;     // [kv_heads, cols, head_dim]
  HeadsView values;   // [kv_heads, cols, value_dim]; dim 0 where no values are needed
  const ScoreRule* rule = nullptr;
  // I16: products of attention() are of 16-bit integers (fixed_point.h), with an f32 softmax, where
  // the processor has an instruction for it. Queries and keys that round_to_units and
  // round_to_common_unit left are not rounded again; values, and weights before they meet them,
  // are. The LSE is that of the unrounded weights.
  DType compute = DType::kF32;

  AttentionShape shape() const {
    return {queries.heads, keys.heads, queries.rows, keys.rows, queries.dim, values.dim};
  }
};

// Throws Error{kInvalidArgument} unless sizes agree, head sizes are within 1..256 and the rule
// fits.
void validate(const AttentionInputs& inputs);

// out(h, i) = sum_j A(h, i, j) v_j and lse[h * rows + i]. A row that sees no key gets output 0 and
// LSE 0. `inputs` must have passed validate(). Uses all threads; memory O((rows + cols) * dim).
void attention(const AttentionInputs& inputs, MutableHeadsView out, std::span<double> lse);

// The same for one head and foreign values [cols, features], features <= 256: out = A values.
void attention_of_head(const AttentionInputs& inputs, int64_t head, MatrixView<const float> values,
                       MatrixView<float> out, std::span<double> lse);

}  // namespace fovea
