// Random attention with the block around it, of every kind that models have, and its vectors by
// the definition, in double.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fovea/explain/block_sum.h"
#include "support/records.h"

namespace fovea::support {

struct BlockCase {
  const char* name = "";
  int64_t heads = 3;
  int64_t kv_heads = 3;
  bool causal = false;
  bool bias = true;     // b_O
  bool norm = true;     // at the block's end
  bool rms = false;     // without mean and bias
  bool before = false;  // norm before the residual
  bool cross = false;
  bool one_hot = false;  // each row looks at its own column
};

inline std::vector<BlockCase> block_cases() {
  return {{.name = "post-norm"},
          {.name = "grouped heads, causal",
           .heads = 4,
           .kv_heads = 2,
           .causal = true,
           .bias = false,
           .norm = false},
          {.name = "RMS norm after the residual", .rms = true},
          {.name = "RMS norm before the residual", .rms = true, .before = true},
          {.name = "cross", .cross = true},
          {.name = "cross, pre-norm", .norm = false, .cross = true}};
}

// The record with the log-sum-exps that its queries, keys and rule give.
inline std::shared_ptr<const AttentionRecord> with_lse(AttentionRecord record) {
  AttentionCase c;
  c.shape = record.shape();
  c.rule = record.rule;
  c.queries = record.queries;
  c.keys = record.keys;
  c.values = record.values;
  record.lse = record_of(c).lse;
  validate(record);
  return std::make_shared<const AttentionRecord>(std::move(record));
}

inline std::shared_ptr<const AttentionRecord> block_record(const BlockCase& block, int64_t length,
                                                           int layer = 0) {
  constexpr int64_t kDim = 4, kWidth = 12;
  std::mt19937 random(static_cast<uint32_t>(100 + layer));
  const int64_t rows = block.cross ? length / 2 + 1 : length;
  AttentionRecord record;
  record.site = {block.cross ? SiteKind::kCross : SiteKind::kSelf, layer};
  if (block.cross) record.row_axis = "steps";
  record.queries = random_heads(random, {block.heads, rows, kDim}, 1.5, DType::kF32);
  record.keys = random_heads(random, {block.kv_heads, length, kDim}, 1.5, DType::kF32);
  record.values = random_heads(random, {block.kv_heads, length, kDim}, 1, DType::kF32);
  record.rule.scale = 0.5F;
  if (block.causal) record.rule.mask = Mask::causal();
  if (block.one_hot) {
    record.queries = Tensor(Shape{block.heads, rows, length});
    record.keys = Tensor(Shape{block.kv_heads, length, length});
    for (int64_t h = 0; h < block.heads; ++h) {
      for (int64_t i = 0; i < rows; ++i) {
        record.queries.mutable_matrix<float>(h)(i, i) = 40;
        record.keys.mutable_matrix<float>(h)(i, i) = 1;
      }
    }
  }
  BlockContext context;
  context.input = random_heads(random, {rows, kWidth}, 1, DType::kF32);
  context.output_weight = random_heads(random, {kWidth, block.heads * kDim}, 0.4, DType::kF32);
  if (block.bias) context.output_bias = random_heads(random, {kWidth}, 0.5, DType::kF32);
  if (block.norm) {
    context.norm_weight = random_heads(random, {kWidth}, 1, DType::kF32);
    if (!block.rms) context.norm_bias = random_heads(random, {kWidth}, 1, DType::kF32);
    context.norm_epsilon = 1e-3F;
    context.norm_before_residual = block.before;
  }
  record.block = context;
  return with_lse(std::move(record));
}

// Layers over the axes that their records name.
inline Run block_run(const BlockCase& block, int64_t length, int layers) {
  Run run{.model = "random"};
  Axis axis{.name = "tokens"};
  for (int64_t i = 0; i < length; ++i) axis.positions.push_back({.text = std::to_string(i)});
  run.axes = {axis};
  for (int layer = 0; layer < layers; ++layer) {
    run.records.push_back(block_record(block, length, layer));
  }
  return run;
}

using Vector = std::vector<double>;

// gamma (v - mean) / sigma, with the sigma of `of`.
inline Vector linear_norm(const BlockContext& block, Vector v, const Vector& of) {
  const auto mean = [&](const Vector& a) {
    double sum = 0;
    for (const double value : a) sum += value;
    return block.norm_bias.empty() ? 0 : sum / double(a.size());
  };
  double square = 0;
  for (const double value : of) square += (value - mean(of)) * (value - mean(of));
  const double sigma = std::sqrt(square / double(of.size()) + double(block.norm_epsilon));
  const double centre = mean(v);
  for (size_t c = 0; c < v.size(); ++c) {
    v[c] = double(block.norm_weight.values<float>()[c]) * (v[c] - centre) / sigma;
  }
  return v;
}

// T_ij of every column, the residual in its column or behind the others; `total`: what they and
// the biases sum to.
inline std::vector<Vector> dense_terms(const AttentionRecord& record, BlockExtent extent, int64_t i,
                                       Vector* total = nullptr) {
  const BlockContext& block = *record.block;
  const AttentionShape shape = record.shape();
  const auto width = size_t(block.output_weight.size(0));
  std::vector<Vector> terms(size_t(shape.cols), Vector(width));
  Vector sum(width);
  for (size_t c = 0; c < width && !block.output_bias.empty(); ++c) {
    sum[c] = double(block.output_bias.values<float>()[c]);
  }
  AttentionCase attention;
  attention.shape = shape;
  attention.rule = record.rule;
  attention.queries = record.queries;
  attention.keys = record.keys;
  attention.values = record.values;
  const auto weights = dense_attention(attention).weights;
  for (int64_t j = 0; j < shape.cols; ++j) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      const float* value = record.values.matrix<float>(h * shape.kv_heads / shape.heads).row(j);
      for (size_t c = 0; c < width; ++c) {
        double f = 0;
        for (int64_t d = 0; d < shape.value_dim; ++d) {
          f += double(value[d]) *
               double(block.output_weight.matrix<float>()(int64_t(c), h * shape.value_dim + d));
        }
        terms[size_t(j)][c] += weights[size_t(h)][size_t(i * shape.cols + j)] * f;
      }
    }
    for (size_t c = 0; c < width; ++c) sum[c] += terms[size_t(j)][c];
  }
  const auto apply_norm = [&] {
    for (Vector& term : terms) term = linear_norm(block, term, sum);
    sum = linear_norm(block, sum, sum);
    for (size_t c = 0; c < width && !block.norm_bias.empty(); ++c) {
      sum[c] += double(block.norm_bias.values<float>()[c]);
    }
  };
  if (extent != BlockExtent::kAttention) {
    if (block.norm_before_residual) apply_norm();
    const bool cross = record.site.kind == SiteKind::kCross;
    if (cross) terms.emplace_back(width);
    Vector& own = cross ? terms.back() : terms[size_t(i)];
    for (size_t c = 0; c < width; ++c) {
      const double x = double(block.input.matrix<float>()(i, int64_t(c)));
      own[c] += x;
      sum[c] += x;
    }
  }
  if (extent == BlockExtent::kNorm && !block.norm_weight.empty() && !block.norm_before_residual) {
    apply_norm();
  }
  if (total != nullptr) *total = sum;
  return terms;
}

}  // namespace fovea::support
