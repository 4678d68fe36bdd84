#include "fovea/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/attention_cases.h"
#include "support/compare.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::random_case;
using support::to_doubles;

// sum(seed * output) in double, straight from the definition, for double Q, K, V.
struct DoubleAttention {
  const AttentionCase& c;
  std::vector<double> queries, keys, values;
  std::vector<double> seed;

  double dot(const double* a, const double* b, int64_t count) const {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }

  double score(int64_t head, int64_t i, int64_t j) const {
    const AttentionShape& shape = c.shape;
    if (!c.rule.mask.allows(i, j)) return -std::numeric_limits<double>::infinity();
    const double* q = queries.data() + (head * shape.rows + i) * shape.head_dim;
    const double* k = keys.data() + (shape.kv_head(head) * shape.cols + j) * shape.head_dim;
    double total = double{c.rule.scale} * dot(q, k, shape.head_dim);
    // Biases that do not depend on Q and K come from the reference with zero vectors.
    const std::vector<float> zeros(static_cast<size_t>(shape.head_dim), 0.0F);
    ScoreRule bias_only = c.rule;
    bias_only.soft_cap = 0;
    total += reference_score(bias_only, shape, head, i, j, zeros, zeros);
    if (const auto* tables = std::get_if<PositionTables>(&c.rule.bias)) {
      const int32_t entry = tables->index[static_cast<size_t>(j - i + shape.rows - 1)];
      for (int64_t d = 0; d < shape.head_dim; ++d) {
        if (!tables->keys.empty()) {
          total += double{c.rule.scale} * q[d] * double{tables->keys.matrix<float>(head)(entry, d)};
        }
        if (!tables->queries.empty()) {
          total +=
              double{c.rule.scale} * k[d] * double{tables->queries.matrix<float>(head)(entry, d)};
        }
      }
    }
    return c.rule.soft_cap > 0 ? c.rule.soft_cap * std::tanh(total / c.rule.soft_cap) : total;
  }

  double operator()() const {
    const AttentionShape& shape = c.shape;
    double result = 0;
    std::vector<double> scores(static_cast<size_t>(shape.cols));
    for (int64_t head = 0; head < shape.heads; ++head) {
      for (int64_t i = 0; i < shape.rows; ++i) {
        double sum = c.rule.sink_logit.empty() ? 0 : std::exp(c.rule.sink_logit[size_t(head)]);
        double value = 0;
        bool any = false;
        for (int64_t j = 0; j < shape.cols; ++j) {
          const double weight = std::exp(score(head, i, j));  // small scores: no shift needed
          any = any || weight > 0;
          sum += weight;
          value +=
              weight * dot(seed.data() + (head * shape.rows + i) * shape.value_dim,
                           values.data() + (shape.kv_head(head) * shape.cols + j) * shape.value_dim,
                           shape.value_dim);
        }
        if (any) result += value / sum;
      }
    }
    return result;
  }
};

void expect_gradient(DoubleAttention& reference, std::vector<double>& variable,
                     const Tensor& gradient) {
  double largest = 0.1;  // small gradients are differences of terms near 1
  for (const float value : gradient.values<float>())
    largest = std::max(largest, double{std::abs(value)});
  const size_t step = std::max<size_t>(1, variable.size() / 25);
  for (size_t at = 0; at < variable.size(); at += step) {
    constexpr double kStep = 1e-5;
    const double kept = variable[at];
    variable[at] = kept + kStep;
    const double above = reference();
    variable[at] = kept - kStep;
    const double below = reference();
    variable[at] = kept;
    // f32 sums of up to 20 terms, each good to 1e-6 of the largest gradient.
    ASSERT_NEAR(gradient.values<float>()[at], (above - below) / (2 * kStep), 2e-5 * largest) << at;
  }
}

TEST(AttentionOp, GradientEqualsCentralDifferencesForEveryRule) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    AttentionCase c = random_case(seed, 20, 1);
    if (c.shape.head_dim > 40 || c.shape.value_dim > 40) continue;
    c.queries = convert(c.queries, DType::kF32);
    c.keys = convert(c.keys, DType::kF32);
    c.values = convert(c.values, DType::kF32);
    SCOPED_TRACE(c.name);
    std::mt19937 random(seed);
    const Tensor out_gradient = support::random_heads(
        random, {c.shape.heads, c.shape.rows, c.shape.value_dim}, 1, DType::kF32);
    Tape tape;
    const Value q = tape.watch(c.queries);
    const Value k = tape.watch(c.keys);
    const Value v = tape.watch(c.values);
    const auto result = ops::attention(q, k, v, std::make_shared<const ScoreRule>(c.rule));
    const auto gradients = tape.gradient(result.output, out_gradient, {q, k, v});
    DoubleAttention reference{c, to_doubles(c.queries), to_doubles(c.keys), to_doubles(c.values),
                              to_doubles(out_gradient)};
    expect_gradient(reference, reference.queries, gradients[0]);
    expect_gradient(reference, reference.keys, gradients[1]);
    expect_gradient(reference, reference.values, gradients[2]);
  }
}

TEST(AttentionOp, GradientCrossesBlocks) {
  // 150 rows and 300 columns: several blocks both ways, causal with an offset.
  std::mt19937 random(3);
  AttentionCase c;
  c.shape = {2, 1, 150, 300, 8, 8};
  c.rule.scale = 0.3F;
  c.rule.mask = Mask::causal(150);
  c.queries = support::random_heads(random, {2, 150, 8}, 1, DType::kF32);
  c.keys = support::random_heads(random, {1, 300, 8}, 1, DType::kF32);
  c.values = support::random_heads(random, {1, 300, 8}, 1, DType::kF32);
  const Tensor out_gradient = support::random_heads(random, {2, 150, 8}, 1, DType::kF32);
  Tape tape;
  const Value k = tape.watch(c.keys);
  const auto result = ops::attention(Value(c.queries), k, Value(c.values),
                                     std::make_shared<const ScoreRule>(c.rule));
  const auto gradients = tape.gradient(result.output, out_gradient, {k});
  DoubleAttention reference{c, to_doubles(c.queries), to_doubles(c.keys), to_doubles(c.values),
                            to_doubles(out_gradient)};
  expect_gradient(reference, reference.keys, gradients[0]);
}

TEST(AttentionOp, RecordsNothingWithoutATape) {
  const AttentionCase c = random_case(1, 10, 1);
  const auto result = ops::attention(
      Value(convert(c.queries, DType::kF32)), Value(convert(c.keys, DType::kF32)),
      Value(convert(c.values, DType::kF32)), std::make_shared<const ScoreRule>(c.rule));
  EXPECT_FALSE(result.output.watched());
  EXPECT_EQ(result.lse.shape(), (Shape{c.shape.heads, c.shape.rows}));
}

}  // namespace
}  // namespace fovea
