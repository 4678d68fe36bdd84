// The only way to attend: every layer calls it, so that no attention is missing from a capture.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fovea/layers/pass.h"
#include "fovea/ops/attention.h"

namespace fovea {

// Where an attention happens, and which axes its rows and columns count along.
struct AttentionPlace {
  SiteId site;
  std::string row_axis = "tokens";
  std::string col_axis = "tokens";
  // Makes the block around the attention; called only if somebody wants it.
  std::function<BlockContext()> block = nullptr;
  // Makes what positions added to queries and keys; called likewise.
  std::function<PositionParts()> positions = nullptr;
  // I16: queries and keys are first rounded to 16 bits (kernels/fixed_point.h). The products
  // multiply these numbers, and the record keeps them. Steps of a generation are F32 whatever this
  // says.
  DType compute = DType::kF32;

  // The place with the axes of the site's kind. Encoders count along "source"; decoders along
  // "target", in rows called "steps", one for each word written; picture towers along "patches". A
  // pooling head has the one row of "pool".
  static AttentionPlace of(SiteId site);
};

// Computes softmax(scores by `rule`) V for queries [heads, rows, dim], keys and values [kv_heads,
// cols, ..], as [rows, heads * value_dim], and records it. In a generation, self-attention also
// sees the steps before; cross-attention has all its keys from the first step on. In a gradient run
// the record is made on the way back, when the gradient at the heads' outputs is known.
Value attend(const Pass& pass, const AttentionPlace& place, const Value& queries, const Value& keys,
             const Value& values, const std::shared_ptr<const ScoreRule>& rule);

// Records an attention that mixes no values and whose heads share one softmax (DETR's masks): for
// each query, the weights of all heads together sum to 1. So every head of a row has the same LSE
// in the record. Returns that LSE, f64 [rows].
Tensor attend_jointly(const Pass& pass, const AttentionPlace& place, const Tensor& queries,
                      const Tensor& keys, const std::shared_ptr<const ScoreRule>& rule);

}  // namespace fovea
