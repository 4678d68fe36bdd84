// What fovea keeps of one attention instead of its matrix: Q, K, V, each row's log-sum-exp and the
// rule of its scores. Everything else is computed from these on demand. If another program gave
// only the matrix, the matrix is kept, since there is nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fovea/attention/score_rule.h"
#include "fovea/capture/site.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// The block around an attention, kept on request: value norms, ALTI and relevancy need it. It gives
//   norm(x + attention)    or x + norm(attention), or x + attention where it ends without a norm
struct BlockContext {
  // x [rows, width]: it enters the block, and the result is added to it. Empty: the result is added
  // to nothing.
  Tensor input;
  // W_O [width, heads * value_dim] as checkpoints store it. If the block scales what it adds
  // (LayerScale), the factors are in W_O and b_O.
  Tensor output_weight;
  Tensor output_bias;  // b_O [width], or empty
  // The biases of q, k and v, [heads * head_dim] and so on; empty: none.
  Tensor query_bias, key_bias, value_bias;
  Tensor norm_weight;  // of the block's last norm, or empty (pre-norm blocks)
  Tensor norm_bias;    // or empty (RMS norm)
  float norm_epsilon = 0;
  bool norm_before_residual = false;  // the norm reads attention's result, not the sum
};

// The part of Q and K that positions made, in models that add positions to the inputs of both in
// every layer (DETR): q_i = Wq (x_i + p_i) + b, and this holds Wq p_i. The bias counts as content.
// Kept on request.
struct PositionParts {
  Tensor queries;  // [heads, rows, head_dim], before the scale
  Tensor keys;     // [kv_heads, cols, head_dim]
};

struct AttentionRecord {
  SiteId site;
  // The axes of the run (capture/run.h) that rows and columns count along, such as "source" and
  // "target".
  std::string row_axis = "tokens";
  std::string col_axis = "tokens";
  Tensor queries;  // [heads, rows, head_dim], F32, F16 or BF16, before the scale
  Tensor keys;     // [kv_heads, cols, head_dim]
  Tensor values;   // [kv_heads, cols, value_dim]; empty if not kept
  Tensor lse;      // [heads, rows], F64 (or F32 from elsewhere, at some loss: docs/numerics.md)
  // Where there are no queries, keys and LSE: the weights themselves, [heads, rows, cols], F32,
  // F16, BF16 or F64, none of them negative. Then only the rule's mask counts.
  Tensor weights;
  ScoreRule rule;
  Tensor output;  // what the model's own attention gave, [heads, rows, value_dim]; usually not kept
  std::optional<BlockContext> block;
  std::optional<PositionParts> positions;
  Tensor output_gradient;  // dO [heads, rows, value_dim] at the head outputs, or empty

  AttentionShape shape() const;  // without queries head_dim is 0
  bool has_queries() const { return weights.empty(); }
};

// Throws Error{kUnsupported} unless the record has queries and keys. `what` says who needs them, as
// in "without the queries and keys that scores are made of".
void check_has_queries(const AttentionRecord& record, std::string_view what);

// Throws Error{kInvalidArgument} naming the site unless all parts fit together, and Error{kBadFile}
// unless all numbers of Q, K, V and LSE are finite, or all weights also 0 or more.
void validate(const AttentionRecord& record);

}  // namespace fovea
