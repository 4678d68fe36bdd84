// The only way to attend: layers call it, so that no attention is ever left out of a capture.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fovea/layers/pass.h"
#include "fovea/ops/attention.h"

namespace fovea {

// Where it happens, and what its rows and columns count along.
struct AttentionPlace {
  SiteId site;
  std::string row_axis = "tokens";
  std::string col_axis = "tokens";
  // The block around it, made only if somebody wants it.
  std::function<BlockContext()> block = nullptr;
  // What positions added to queries and keys, likewise.
  std::function<PositionParts()> positions = nullptr;
  // I16: queries and keys are rounded to 16 bits first (kernels/fixed_point.h), and recorded so,
  // and products are of such numbers. The steps of a generation are F32 whatever this says.
  DType compute = DType::kF32;

  // With the axes that the site's kind counts along: of encoders "source", of decoders "target",
  // whose rows are the "steps" of writing it, of picture towers "patches"; a pooling head is one
  // row of "pool".
  static AttentionPlace of(SiteId site);
};

// softmax(scores by `rule`) V for queries [heads, rows, dim], keys and values [kv_heads, cols, ..];
// gives [rows, heads * value_dim]. Records it, and in a generation goes on from the steps before;
// cross-attention has all its keys from the first step on. In a gradient run the record is made,
// with the gradient at the heads' outputs, when that is computed.
Value attend(const Pass& pass, const AttentionPlace& place, const Value& queries, const Value& keys,
             const Value& values, const std::shared_ptr<const ScoreRule>& rule);

// Records an attention that mixes no values and whose heads share one softmax: for each query the
// weights of all heads together sum to 1 (DETR's masks). In the record every head of a row has the
// LSE of them all. Gives that LSE, f64 [rows].
Tensor attend_jointly(const Pass& pass, const AttentionPlace& place, const Tensor& queries,
                      const Tensor& keys, const std::shared_ptr<const ScoreRule>& rule);

}  // namespace fovea
