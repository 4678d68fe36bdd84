#include "fovea/kernels/attention_relevance.h"

#include <gtest/gtest.h>

#include "fovea/base/watch.h"
#include "support/attention_cases.h"
#include "support/errors.h"
#include "support/records.h"
#include "support/sanitized.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::for_each_simd_target;
using support::random_case;

// E in double, straight from the definition.
std::vector<double> dense_relevance(const AttentionCase& c, const Tensor& out_gradient) {
  const support::DenseAttention dense = support::dense_attention(c);
  const AttentionShape& shape = c.shape;
  const Tensor values = convert(c.values, DType::kF32);
  const Tensor gradient = convert(out_gradient, DType::kF32);
  std::vector<double> relevance(size_t(shape.rows * shape.cols));
  for (int64_t h = 0; h < shape.heads; ++h) {
    for (int64_t i = 0; i < shape.rows; ++i) {
      for (int64_t j = 0; j < shape.cols; ++j) {
        double slope = 0;
        for (int64_t f = 0; f < shape.value_dim; ++f) {
          slope += double{gradient.matrix<float>(h)(i, f)} *
                   double{values.matrix<float>(shape.kv_head(h))(j, f)};
        }
        const auto at = size_t(i * shape.cols + j);
        relevance[at] += std::max(0.0, dense.weights[size_t(h)][at] * slope) / double(shape.heads);
      }
    }
  }
  return relevance;
}

struct Graded {
  Graded(AttentionCase attention_case, uint32_t seed) : c(std::move(attention_case)) {
    std::mt19937 random(seed);
    gradient = support::random_heads(random, {c.shape.heads, c.shape.rows, c.shape.value_dim}, 1,
                                     DType::kF32);
    // Some rows have no part in the target, a whole group of them among these.
    for (int64_t h = 0; h < c.shape.heads; ++h) {
      for (int64_t i = 0; i < c.shape.rows; ++i) {
        if (i % 40 >= 24 || i % 5 == 1) {
          std::fill_n(gradient.mutable_matrix<float>(h).row(i), c.shape.value_dim, 0.0F);
        }
      }
    }
    record = support::record_of(c);
    left = support::random_heads(random, {c.shape.rows}, 1, DType::kF32);
    right = support::random_heads(random, {c.shape.cols}, 1, DType::kF32);
  }

  GradedAttention attention() const {
    return {{HeadsView::of(c.queries), HeadsView::of(c.keys), HeadsView::of(c.values), &c.rule},
            record.lse.values<double>(),
            HeadsView::of(gradient)};
  }

  AttentionCase c;
  AttentionRecord record;
  Tensor gradient;
  Tensor left, right;  // factors, some below 0
};

std::vector<double> doubles(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

// f32 scores and slopes: the error of a weight is some 2e-6 of it, more for large scores, and that
// of a slope 1e-7 of its terms, of which there are `value_dim`.
void expect_relevance_matches(const Graded& graded) {
  SCOPED_TRACE(graded.c.name);
  const AttentionShape& shape = graded.c.shape;
  const std::vector<double> relevance = dense_relevance(graded.c, graded.gradient);
  const std::vector<double> left = doubles(graded.left), right = doubles(graded.right);
  validate(graded.attention());
  const std::vector<double> columns = relevance_times_left(graded.attention(), left);
  const std::vector<double> rows = relevance_times_right(graded.attention(), right);
  ASSERT_EQ(int64_t(columns.size()), shape.cols);
  ASSERT_EQ(int64_t(rows.size()), shape.rows);
  const double tolerance = 2e-5;
  for (int64_t j = 0; j < shape.cols; ++j) {
    double sum = 0, size = 0;
    for (int64_t i = 0; i < shape.rows; ++i) {
      const double term = left[size_t(i)] * relevance[size_t(i * shape.cols + j)];
      sum += term;
      size += std::abs(term);
    }
    ASSERT_NEAR(columns[size_t(j)], sum, tolerance * (size + 0.1)) << "column " << j;
  }
  for (int64_t i = 0; i < shape.rows; ++i) {
    double sum = 0, size = 0;
    for (int64_t j = 0; j < shape.cols; ++j) {
      const double term = right[size_t(j)] * relevance[size_t(i * shape.cols + j)];
      sum += term;
      size += std::abs(term);
    }
    ASSERT_NEAR(rows[size_t(i)], sum, tolerance * (size + 0.1)) << "row " << i;
  }
}

TEST(AttentionRelevance, MatchesTheDoubleReferenceOnEverySimdTarget) {
  for_each_simd_target([] {
    for (uint32_t seed = 0; seed < support::cases(60); ++seed) {
      SCOPED_TRACE(seed);
      expect_relevance_matches({random_case(seed, 70, 2), seed});
    }
  });
}

// Several blocks of rows and columns, the last of them not whole.
TEST(AttentionRelevance, MatchesAcrossBlocksForEveryMask) {
  const auto long_case = [](Mask mask, int64_t rows, int64_t cols) {
    std::mt19937 random(9);
    AttentionCase c;
    c.name = fmt::format("{} x {}", rows, cols);
    c.shape = {4, 2, rows, cols, 12, 20};
    c.rule.scale = 0.3F;
    c.rule.mask = std::move(mask);
    c.queries = support::random_heads(random, {4, rows, 12}, 1, DType::kF32);
    c.keys = support::random_heads(random, {2, cols, 12}, 1, DType::kF32);
    c.values = support::random_heads(random, {2, cols, 20}, 1, DType::kF32);
    return Graded(std::move(c), 5);
  };
  expect_relevance_matches(long_case({}, 213, 611));
  expect_relevance_matches(long_case(Mask::causal(), 601, 601));
  expect_relevance_matches(long_case(Mask::causal(398), 213, 611));
  Mask window = Mask::causal();
  window.behind = 70;
  expect_relevance_matches(long_case(window, 601, 601));
  Mask padded = Mask::causal();
  padded.key_valid.assign(601, 1);
  std::fill_n(padded.key_valid.begin(), 90, uint8_t{0});
  expect_relevance_matches(long_case(padded, 601, 601));
}

TEST(AttentionRelevance, OfRowsWithoutGradientIsZero) {
  Graded graded(random_case(3, 60, 1), 3);
  graded.gradient = Tensor(graded.gradient.shape());
  for (const double value : relevance_times_left(graded.attention(), doubles(graded.left))) {
    EXPECT_EQ(value, 0);
  }
  for (const double value : relevance_times_right(graded.attention(), doubles(graded.right))) {
    EXPECT_EQ(value, 0);
  }
}

TEST(AttentionRelevance, RefusesWhatDoesNotFit) {
  const Graded graded(support::AttentionCase(random_case(1, 40, 1)), 1);
  const GradedAttention attention = graded.attention();
  const std::vector<double> too_long(size_t(std::max(graded.c.shape.rows, graded.c.shape.cols)) +
                                     1);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "row weights",
                         [&] { relevance_times_left(attention, too_long); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "column weights",
                         [&] { relevance_times_right(attention, too_long); }));
  GradedAttention other = attention;
  other.out_gradient.rows += 1;
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "gradient", [&] { validate(other); }));
  other = attention;
  other.lse = other.lse.first(1);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "log-sum-exps", [&] { validate(other); }));
}

TEST(AttentionRelevance, StopsWhenCancelled) {
  const Graded graded(support::AttentionCase(random_case(2, 40, 1)), 2);
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_THROW(relevance_times_left(graded.attention(), doubles(graded.left)), Error);
  EXPECT_THROW(relevance_times_right(graded.attention(), doubles(graded.right)), Error);
}

}  // namespace
}  // namespace fovea
