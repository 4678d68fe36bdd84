#include "fovea/kernels/attention_backward.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/watch.h"
#include "support/attention_cases.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;

// The softmax's derivative written out densely in double; attention whose scores are scale * q . k.
// tests/unit/ops/attention_test.cc holds every other rule against central differences.
TEST(AttentionBackward, EqualsTheDenseFormulaAcrossBlocksAndSharedHeads) {
  std::mt19937 random(4);
  AttentionCase c;
  c.shape = {4, 2, 150, 300, 12, 20};
  c.rule.scale = 0.4F;
  c.rule.mask = Mask::causal(140);
  c.queries = support::random_heads(random, {4, 150, 12}, 1, DType::kF32);
  c.keys = support::random_heads(random, {2, 300, 12}, 1, DType::kF32);
  c.values = support::random_heads(random, {2, 300, 20}, 1, DType::kF32);
  const Tensor out_gradient = support::random_heads(random, {4, 150, 20}, 1, DType::kF32);
  const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys),
                               HeadsView::of(c.values), &c.rule};
  Tensor out(Shape{4, 150, 20});
  std::vector<double> lse(4 * 150);
  attention(inputs, MutableHeadsView::of(out), lse);
  const AttentionGradients found =
      attention_backward(inputs, HeadsView::of(out), lse, HeadsView::of(out_gradient));

  const support::DenseAttention dense = support::dense_attention(c);
  std::vector<double> queries(4 * 150 * 12), keys(2 * 300 * 12), values(2 * 300 * 20);
  for (int64_t h = 0; h < 4; ++h) {
    const int64_t g = c.shape.kv_head(h);
    for (int64_t i = 0; i < 150; ++i) {
      const auto weight = [&](int64_t j) { return dense.weights[size_t(h)][size_t(i * 300 + j)]; };
      std::vector<double> weight_gradient(300);
      double mean = 0;
      for (int64_t j = 0; j < 300; ++j) {
        for (int64_t f = 0; f < 20; ++f) {
          const double upstream = out_gradient.matrix<float>(h)(i, f);
          weight_gradient[size_t(j)] += upstream * double{c.values.matrix<float>(g)(j, f)};
          values[size_t((g * 300 + j) * 20 + f)] += weight(j) * upstream;
        }
        mean += weight(j) * weight_gradient[size_t(j)];
      }
      for (int64_t j = 0; j < 300; ++j) {
        const double score_gradient =
            double{c.rule.scale} * weight(j) * (weight_gradient[size_t(j)] - mean);
        for (int64_t d = 0; d < 12; ++d) {
          queries[size_t((h * 150 + i) * 12 + d)] +=
              score_gradient * double{c.keys.matrix<float>(g)(j, d)};
          keys[size_t((g * 300 + j) * 12 + d)] +=
              score_gradient * double{c.queries.matrix<float>(h)(i, d)};
        }
      }
    }
  }
  // Sums of up to 300 terms near 1 in f32.
  constexpr double kTolerance = 5e-5;
  for (size_t at = 0; at < queries.size(); ++at) {
    ASSERT_NEAR(found.queries.values<float>()[at], queries[at], kTolerance) << at;
  }
  for (size_t at = 0; at < keys.size(); ++at) {
    ASSERT_NEAR(found.keys.values<float>()[at], keys[at], kTolerance) << at;
  }
  for (size_t at = 0; at < values.size(); ++at) {
    ASSERT_NEAR(found.values.values<float>()[at], values[at], kTolerance) << at;
  }
}

TEST(AttentionBackward, GivesOnlyWhatIsWantedAndSkipsRowsWithoutAGradient) {
  const AttentionCase c = support::plain_case(300, 12, true, 3);
  const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys),
                               HeadsView::of(c.values), &c.rule};
  Tensor out(Shape{c.shape.heads, c.shape.rows, c.shape.value_dim});
  std::vector<double> lse(static_cast<size_t>(c.shape.heads * c.shape.rows));
  attention(inputs, MutableHeadsView::of(out), lse);
  // One row alone, the last: what all rows but it give is 0.
  Tensor gradient(out.shape());
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    std::fill_n(gradient.mutable_matrix<float>(head).row(c.shape.rows - 1), c.shape.value_dim, 1);
  }
  const auto run = [&](WantedGradients wanted) {
    return attention_backward(inputs, HeadsView::of(out), lse, HeadsView::of(gradient), wanted);
  };
  const AttentionGradients all = run({}), values = run({.scores = false}),
                           scores = run({.values = false});
  EXPECT_TRUE(values.queries.empty() && values.keys.empty() && scores.values.empty());
  EXPECT_TRUE(std::ranges::equal(all.values.values<float>(), values.values.values<float>()));
  EXPECT_TRUE(std::ranges::equal(all.queries.values<float>(), scores.queries.values<float>()));
  EXPECT_TRUE(std::ranges::equal(all.keys.values<float>(), scores.keys.values<float>()));
  for (int64_t row = 0; row + 1 < c.shape.rows; ++row) {
    ASSERT_EQ(all.queries.matrix<float>(0)(row, 0), 0) << row;
  }
  EXPECT_NE(all.queries.matrix<float>(0)(c.shape.rows - 1, 0), 0);
}

TEST(AttentionBackward, StopsWhenCancelled) {
  const AttentionCase c = support::random_case(3, 20, 1);
  const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys),
                               HeadsView::of(c.values), &c.rule};
  const Tensor out(Shape{c.shape.heads, c.shape.rows, c.shape.value_dim});
  const std::vector<double> lse(static_cast<size_t>(c.shape.heads * c.shape.rows));
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_THROW(attention_backward(inputs, HeadsView::of(out), lse, HeadsView::of(out), {}), Error);
}

}  // namespace
}  // namespace fovea
