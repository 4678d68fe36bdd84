// Records made from random attentions, as a model's run would leave them.
#pragma once

#include <memory>
#include <vector>

#include "fovea/capture/attention_record.h"
#include "fovea/kernels/attention.h"
#include "support/attention_cases.h"

namespace fovea::support {

// Runs the attention and keeps what a recorder keeps.
inline AttentionRecord record_of(const AttentionCase& c, SiteId site = {}) {
  AttentionRecord record;
  record.site = site;
  record.queries = c.queries;
  record.keys = c.keys;
  record.values = c.values;
  record.rule = c.rule;
  record.lse = Tensor(Shape{c.shape.heads, c.shape.rows}, DType::kF64);
  Tensor out(Shape{c.shape.heads, c.shape.rows, c.shape.value_dim});
  const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys),
                               HeadsView::of(c.values), &c.rule};
  validate(inputs);
  attention(inputs, MutableHeadsView::of(out), record.lse.mutable_values<double>());
  return record;
}

inline std::shared_ptr<const AttentionRecord> shared_record_of(const AttentionCase& c) {
  return std::make_shared<const AttentionRecord>(record_of(c));
}

// Heads that look where they are told: row i of head h puts all but some 1e-6 on column
// looks[h][i].
inline AttentionRecord aimed_record(SiteId site, const std::vector<std::vector<int64_t>>& looks,
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
  return record_of(c, site);
}

// A plain self-attention of `length` positions.
inline AttentionCase plain_case(int64_t length, int64_t dim, bool causal, uint32_t seed) {
  std::mt19937 random(seed);
  AttentionCase c;
  c.shape = {1, 1, length, length, dim, dim};
  c.rule.scale = static_cast<float>(1 / std::sqrt(double(dim)));
  if (causal) c.rule.mask = Mask::causal();
  c.queries = random_heads(random, {1, length, dim}, 1.5, DType::kF32);
  c.keys = random_heads(random, {1, length, dim}, 1.5, DType::kF32);
  c.values = random_heads(random, {1, length, dim}, 1, DType::kF32);
  return c;
}

}  // namespace fovea::support
