// Random attentions of every kind, and the plain double reference that fast code is held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/tensor/convert.h"

namespace fovea::support {

// An attention's inputs, owned.
struct AttentionCase {
  std::string name;
  AttentionShape shape;
  ScoreRule rule;
  Tensor queries;  // [heads, rows, head_dim]
  Tensor keys;
  Tensor values;
};

// Dense results in double: weights[head][i * cols + j] and so on.
struct DenseAttention {
  std::vector<std::vector<double>> scores;
  std::vector<std::vector<double>> weights;
  std::vector<std::vector<double>> outputs;  // [rows * value_dim]
  std::vector<std::vector<double>> lse;      // [rows]
};

inline Tensor random_heads(std::mt19937& random, Shape shape, double spread, DType dtype) {
  std::normal_distribution<double> normal(0, spread);
  Tensor tensor(std::move(shape));
  for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(normal(random));
  return convert(tensor, dtype);  // rounded: the reference reads the same rounded numbers
}

inline std::vector<float> row_of(const Tensor& tensor, int64_t head, int64_t row) {
  const Tensor f32 = convert(tensor, DType::kF32);
  const float* first = f32.matrix<float>(head).row(row);
  return {first, first + f32.shape().back()};
}

inline DenseAttention dense_attention(const AttentionCase& c) {
  const AttentionShape& shape = c.shape;
  const Tensor queries = convert(c.queries, DType::kF32);
  const Tensor keys = convert(c.keys, DType::kF32);
  const Tensor values = c.values.empty() ? Tensor() : convert(c.values, DType::kF32);
  DenseAttention dense;
  const auto rows = static_cast<size_t>(shape.rows);
  const auto cols = static_cast<size_t>(shape.cols);
  const auto width = static_cast<size_t>(shape.value_dim);
  const auto depth = static_cast<size_t>(shape.head_dim);
  for (int64_t head = 0; head < shape.heads; ++head) {
    std::vector<double> scores(rows * cols), weights(rows * cols), outputs(rows * width), lse(rows);
    const int64_t kv_head = shape.kv_head(head);
    for (size_t i = 0; i < rows; ++i) {
      const std::span<const float> query(queries.matrix<float>(head).row(int64_t(i)), depth);
      double largest = -std::numeric_limits<double>::infinity();
      for (size_t j = 0; j < cols; ++j) {
        const std::span<const float> key(keys.matrix<float>(kv_head).row(int64_t(j)), depth);
        const double score =
            reference_score(c.rule, shape, head, int64_t(i), int64_t(j), query, key);
        scores[i * cols + j] = score;
        largest = std::max(largest, score);
      }
      if (std::isinf(largest)) continue;  // sees nothing: LSE 0, weights 0
      double sum = 0;
      for (size_t j = 0; j < cols; ++j) sum += std::exp(scores[i * cols + j] - largest);
      if (!c.rule.sink_logit.empty()) sum += std::exp(c.rule.sink_logit[size_t(head)] - largest);
      lse[i] = largest + std::log(sum);
      for (size_t j = 0; j < cols; ++j) {
        const double weight = std::exp(scores[i * cols + j] - lse[i]);
        weights[i * cols + j] = weight;
        for (size_t f = 0; f < width; ++f) {
          outputs[i * width + f] +=
              weight * double{values.matrix<float>(kv_head)(int64_t(j), int64_t(f))};
        }
      }
    }
    dense.scores.push_back(std::move(scores));
    dense.weights.push_back(std::move(weights));
    dense.outputs.push_back(std::move(outputs));
    dense.lse.push_back(std::move(lse));
  }
  return dense;
}

// Picks a mask and says which.
inline std::string random_mask(std::mt19937& random, const AttentionShape& shape, Mask& mask) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, std::max(low, high))(random);
  };
  switch (pick(0, 6)) {
    case 1:
      mask = Mask::causal(pick(0, 1) == 0 ? shape.cols - shape.rows : pick(-3, 3));
      return "causal";
    case 2:
      mask = Mask::causal(0);
      mask.behind = pick(0, 40);
      return "window";
    case 3:
      mask.behind = pick(0, 20);
      mask.ahead = pick(0, 20);
      return "band";
    case 4:
      for (int64_t j = 0; j < shape.cols; ++j) mask.key_valid.push_back(pick(0, 3) != 0 ? 1 : 0);
      return "padding";
    case 5:
      for (int64_t j = 0; j < shape.cols; ++j) mask.key_group.push_back(int32_t(pick(0, 3)));
      for (int64_t i = 0; i < shape.rows; ++i) mask.query_group.push_back(int32_t(pick(0, 4)));
      return "groups";
    case 6:
      mask = Mask::causal(0);
      for (int64_t j = 0; j < shape.cols; ++j) mask.key_valid.push_back(pick(0, 5) != 0 ? 1 : 0);
      return "causal+padding";
    default:
      return "all";
  }
}

inline std::string random_bias(std::mt19937& random, const AttentionShape& shape, ScoreRule& rule) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, std::max(low, high))(random);
  };
  const auto index = [&](int64_t count, int64_t entries) {
    std::vector<int32_t> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(int32_t(pick(0, entries - 1)));
    return result;
  };
  const int64_t distances = shape.rows + shape.cols - 1;
  switch (pick(0, 7)) {
    case 1: {
      AlibiSlopes alibi;
      for (int64_t h = 0; h < shape.heads; ++h) {
        alibi.slopes.push_back(std::pow(2.0F, -float(h + 1)));
      }
      rule.bias = alibi;
      return "alibi";
    }
    case 2:
      rule.bias =
          DistanceTable{random_heads(random, {shape.heads, 32}, 1, DType::kF32),
                        t5_bucket_index(shape.rows, shape.cols, 0, pick(0, 1) == 0, 32, 128)};
      return "buckets";
    case 3:
      rule.bias = DenseBias{
          random_heads(random, {pick(0, 1) == 0 ? 1 : shape.heads, shape.rows, shape.cols}, 1,
                       DType::kF32),
          {},
          {}};
      return "dense";
    case 4:
      rule.bias = DenseBias{random_heads(random, {shape.heads, 9, 7}, 1, DType::kF32),
                            index(shape.rows, 9), index(shape.cols, 7)};
      return "indexed";
    case 5: {
      const int64_t entries = pick(1, 50);
      PositionTables tables{
          random_heads(random, {shape.heads, entries, shape.head_dim}, 0.5, DType::kF32),
          random_heads(random, {shape.heads, entries, shape.head_dim}, 0.5, DType::kF32),
          index(distances, entries)};
      const int64_t kept = pick(0, 2);
      if (kept == 1) tables.keys = Tensor();
      if (kept == 2) tables.queries = Tensor();
      rule.bias = tables;
      return "positions";
    }
    default:
      return "plain";
  }
}

// `spread` is the standard deviation of the scores before any bias. `most` bounds rows and columns.
inline AttentionCase random_case(uint32_t seed, int64_t most, double spread) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  static constexpr int64_t kDims[] = {1, 3, 8, 16, 24, 32, 40, 64, 72, 80, 96, 128, 256};
  AttentionCase c;
  AttentionShape& shape = c.shape;
  shape.kv_heads = pick(1, 2);
  shape.heads = shape.kv_heads * pick(1, 3);
  shape.rows = pick(1, most);
  shape.cols = pick(0, 2) == 0 ? shape.rows : pick(1, most);
  shape.head_dim = kDims[pick(0, std::size(kDims) - 1)];
  shape.value_dim = pick(0, 3) == 0 ? kDims[pick(0, std::size(kDims) - 1)] : shape.head_dim;
  static constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kBF16, DType::kF16};
  const DType dtype = kTypes[pick(0, 3)];
  // Var(q . k) = depth * (var q) (var k), and the scale makes it spread^2.
  const double sigma = std::sqrt(spread);
  c.rule.scale = static_cast<float>(1 / std::sqrt(double(shape.head_dim)));
  c.queries = random_heads(random, {shape.heads, shape.rows, shape.head_dim}, sigma, dtype);
  c.keys = random_heads(random, {shape.kv_heads, shape.cols, shape.head_dim}, sigma, dtype);
  c.values = random_heads(random, {shape.kv_heads, shape.cols, shape.value_dim}, 1, dtype);
  c.name = random_mask(random, shape, c.rule.mask) + ", " + random_bias(random, shape, c.rule);
  if (pick(0, 4) == 0) {
    c.rule.soft_cap = float(pick(5, 50));
    c.name += ", cap";
  }
  if (pick(0, 4) == 0) {
    for (int64_t h = 0; h < shape.heads; ++h) c.rule.sink_logit.push_back(float(pick(-2, 4)));
    c.name += ", sink";
  }
  if (seed % 4 == 0) {  // apart from `random`, which other cases are made from
    c.rule.cuts = {{shape.rows / 2, shape.cols / 2, -1}, {shape.rows - 1, 0, shape.heads - 1}};
    std::ranges::sort(c.rule.cuts);
    c.name += ", cuts";
  }
  c.name += fmt::format(", {} of {} heads, {} x {}, size {}/{}, {}", shape.kv_heads, shape.heads,
                        shape.rows, shape.cols, shape.head_dim, shape.value_dim, dtype_name(dtype));
  return c;
}

}  // namespace fovea::support
