// Random cross-attention as a model would leave it, with values and block.
#pragma once

#include <memory>
#include <vector>

#include "fovea/explain/alignment/cross_weights.h"
#include "support/records.h"

namespace fovea::support {

inline AttentionRecord random_cross_record(uint32_t seed, int layer, AttentionShape shape,
                                           int64_t width) {
  std::mt19937 random(seed);
  AttentionCase c;
  c.shape = shape;
  c.rule.scale = static_cast<float>(1 / std::sqrt(double(shape.head_dim)));
  c.queries = random_heads(random, {shape.heads, shape.rows, shape.head_dim}, 1.5, DType::kF32);
  c.keys = random_heads(random, {shape.kv_heads, shape.cols, shape.head_dim}, 1.5, DType::kF32);
  c.values = random_heads(random, {shape.kv_heads, shape.cols, shape.value_dim}, 1, DType::kF32);
  AttentionRecord record = record_of(c, {SiteKind::kCross, layer});
  record.row_axis = "target";
  record.col_axis = "source";
  BlockContext block;
  block.input = random_heads(random, {shape.rows, width}, 1, DType::kF32);
  block.output_weight =
      random_heads(random, {width, shape.heads * shape.value_dim}, 0.3, DType::kF32);
  record.block = block;
  validate(record);
  return record;
}

// Heads that look where they are told, as aimed_record() has them.
inline CrossLayer aimed_layer(int layer, const std::vector<std::vector<int64_t>>& looks,
                              int64_t cols) {
  return CrossLayer(std::make_shared<const AttentionRecord>(
      aimed_record({SiteKind::kCross, layer}, looks, cols)));
}

inline std::vector<CrossLayer> random_cross_layers(uint32_t seed, int layers,
                                                   const AttentionShape& shape, int64_t width) {
  std::vector<CrossLayer> result;
  for (int layer = 0; layer < layers; ++layer) {
    result.emplace_back(std::make_shared<const AttentionRecord>(
        random_cross_record(seed * 100 + uint32_t(layer), layer, shape, width)));
  }
  return result;
}

}  // namespace fovea::support
