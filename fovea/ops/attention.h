// Attention as a differentiable op.
#pragma once

#include <memory>

#include "fovea/attention/score_rule.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

struct AttentionResult {
  Value output;  // [heads, rows, value_dim]
  Tensor lse;    // f64 [heads, rows]
};

// Streams softmax(scores by `rule`) V for queries [heads, rows, head_dim], keys and values
// [kv_heads, cols, ...]. `compute` is F32 or I16 (kernels/attention.h). Differentiable in queries,
// keys and values, as if nothing were rounded; the rule's own numbers are constants.
AttentionResult attention(const Value& queries, const Value& keys, const Value& values,
                          std::shared_ptr<const ScoreRule> rule, DType compute = DType::kF32);

// The same, if an earlier run already gave the result: nothing is computed.
AttentionResult known_attention(const Value& queries, const Value& keys, const Value& values,
                                std::shared_ptr<const ScoreRule> rule, const Tensor& output,
                                const Tensor& lse);

}  // namespace fovea::ops
