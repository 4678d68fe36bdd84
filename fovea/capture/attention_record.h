// What fovea keeps of one attention instead of its matrix: Q, K, V, each row's log-sum-exp and the
// rule of its scores. Everything else is computed from that on demand.
#pragma once

#include <optional>
#include <string>

#include "fovea/attention/score_rule.h"
#include "fovea/capture/site.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// The block around an attention, kept on request: value norms, ALTI and relevancy need it. It gives
//   norm(x + attention)    or x + norm(attention), or x + attention where it ends without a norm
struct BlockContext {
  // x [rows, width]: what enters the block and its result is added to; empty: it is added to
  // nothing
  Tensor input;
  // W_O [width, heads * value_dim] as checkpoints store it; factors of the width (LayerScale) are
  // in it and in b_O.
  Tensor output_weight;
  Tensor output_bias;  // b_O [width], or empty
  // What is added where q, k and v are made, [heads * head_dim] and so on; empty where there is
  // none
  Tensor query_bias, key_bias, value_bias;
  Tensor norm_weight;  // of the norm at the block's end, or empty (pre-norm blocks)
  Tensor norm_bias;    // or empty (RMS norm)
  float norm_epsilon = 0;
  bool norm_before_residual = false;  // the norm is over what attention gives, not over the sum
};

// What positions added to Q and K where they are added to the inputs of both, layer by layer
// (DETR): q_i = Wq (x_i + p_i) + b, of which this holds Wq p_i; the bias counts as content. Kept on
// request.
struct PositionParts {
  Tensor queries;  // [heads, rows, head_dim], before the scale
  Tensor keys;     // [kv_heads, cols, head_dim]
};

struct AttentionRecord {
  SiteId site;
  // The run's axes (capture/run.h) that rows and columns count along, "source" and "target" say.
  std::string row_axis = "tokens";
  std::string col_axis = "tokens";
  Tensor queries;  // [heads, rows, head_dim], F32, F16 or BF16, before the scale
  Tensor keys;     // [kv_heads, cols, head_dim]
  Tensor values;   // [kv_heads, cols, value_dim]; empty if not kept
  Tensor lse;      // [heads, rows], F64 (or F32 from elsewhere, at some loss: docs/numerics.md)
  ScoreRule rule;
  Tensor output;  // what the model's own attention gave, [heads, rows, value_dim]; usually not kept
  std::optional<BlockContext> block;
  std::optional<PositionParts> positions;
  Tensor output_gradient;  // dO [heads, rows, value_dim] at the head outputs, or empty

  AttentionShape shape() const;
};

// Throws Error{kInvalidArgument} naming the site unless all parts fit together and every number of
// Q, K, V and LSE is finite.
void validate(const AttentionRecord& record);

}  // namespace fovea
