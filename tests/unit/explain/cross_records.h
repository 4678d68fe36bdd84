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

// Heads that look where they are told: row i of head h puts all but some 1e-6 on column
// looks[h][i].
inline CrossLayer aimed_layer(int layer, const std::vector<std::vector<int64_t>>& looks,
                              int64_t cols) {
  const auto heads = static_cast<int64_t>(looks.size());
  const auto rows = static_cast<int64_t>(looks.front().size());
  AttentionCase c;
  c.shape = {heads, heads, rows, cols, cols, cols};
  c.queries = Tensor(Shape{heads, rows, cols});
  c.keys = Tensor(Shape{heads, cols, cols});
  c.values = Tensor(Shape{heads, cols, cols});
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t aim = looks[static_cast<size_t>(head)][static_cast<size_t>(i)];
      c.queries.mutable_matrix<float>(head)(i, aim) = 15;
    }
    for (int64_t j = 0; j < cols; ++j) c.keys.mutable_matrix<float>(head)(j, j) = 1;
  }
  return CrossLayer(
      std::make_shared<const AttentionRecord>(record_of(c, SiteId{SiteKind::kCross, layer})));
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
