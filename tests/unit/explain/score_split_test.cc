#include "fovea/explain/pictures/score_split.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::plain_case;
using support::random_heads;
using support::record_of;

struct SplitCase {
  AttentionRecord record;
  Tensor position_queries;
  Tensor position_keys;
};

SplitCase split_case(int64_t length, int64_t dim) {
  std::mt19937 random(7);
  AttentionCase c = plain_case(length, dim, false, 4);
  c.shape.heads = c.shape.kv_heads = 2;
  c.queries = random_heads(random, {2, length, dim}, 1.5, DType::kF32);
  c.keys = random_heads(random, {2, length, dim}, 1.5, DType::kF32);
  c.values = random_heads(random, {2, length, dim}, 1, DType::kF32);
  return {record_of(c, {SiteKind::kEncoderSelf, 1}),
          random_heads(random, {2, length, dim}, 1, DType::kF32),
          random_heads(random, {2, length, dim}, 1, DType::kF32)};
}

double naive_dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(ScoreSplit, FourTermsMakeUpTheScoreAndTheWeight) {
  const int64_t length = 6, dim = 5, head = 1, row = 4, col = 2;
  const SplitCase c = split_case(length, dim);
  const ScoreSplit split =
      split_score(c.record, c.position_queries, c.position_keys, head, row, col);
  std::vector<double> qc, qp, kc, kp;
  for (int64_t d = 0; d < dim; ++d) {
    const auto q_at = static_cast<size_t>((head * length + row) * dim + d);
    const auto k_at = static_cast<size_t>((head * length + col) * dim + d);
    qp.push_back(c.position_queries.values<float>()[q_at]);
    kp.push_back(c.position_keys.values<float>()[k_at]);
    qc.push_back(double{c.record.queries.values<float>()[q_at]} - qp.back());
    kc.push_back(double{c.record.keys.values<float>()[k_at]} - kp.back());
  }
  const double scale = c.record.rule.scale;
  // Both are double; only the order of sums differs.
  EXPECT_NEAR(split.content_content, scale * naive_dot(qc, kc), 1e-12);
  EXPECT_NEAR(split.content_position, scale * naive_dot(qc, kp), 1e-12);
  EXPECT_NEAR(split.position_content, scale * naive_dot(qp, kc), 1e-12);
  EXPECT_NEAR(split.position_position, scale * naive_dot(qp, kp), 1e-12);
  double sum_of_exp = 0, score = 0;
  for (int64_t j = 0; j < length; ++j) {
    double s = 0;
    for (int64_t d = 0; d < dim; ++d) {
      s +=
          scale *
          double{c.record.queries
                     .values<float>()[static_cast<size_t>((head * length + row) * dim + d)]} *
          double{c.record.keys.values<float>()[static_cast<size_t>((head * length + j) * dim + d)]};
    }
    sum_of_exp += std::exp(s);
    if (j == col) score = s;
  }
  EXPECT_NEAR(split.score, score, 1e-12);
  // The record's LSE was made by f32 kernels.
  EXPECT_NEAR(split.weight, std::exp(score) / sum_of_exp, 1e-5);
}

TEST(ScoreSplit, DimensionsAddUpToTheScoreLargestFirst) {
  const SplitCase c = split_case(6, 5);
  const ScoreSplit split = split_score(c.record, c.position_queries, c.position_keys, 0, 0, 5);
  ASSERT_EQ(split.dimensions.size(), 5U);
  double sum = 0;
  for (size_t i = 0; i < 5; ++i) {
    sum += split.dimensions[i].product;
    if (i > 0) {
      EXPECT_GE(std::abs(split.dimensions[i - 1].product), std::abs(split.dimensions[i].product));
    }
  }
  EXPECT_NEAR(sum, split.score, 1e-12);
}

TEST(ScoreSplit, RefusesWhatDoesNotFit) {
  SplitCase c = split_case(6, 5);
  const auto split = [&](int64_t head, int64_t row, int64_t col) {
    return [&c, head, row, col] {
      split_score(c.record, c.position_queries, c.position_keys, head, row, col);
    };
  };
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 heads", split(2, 0, 0)));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "6 rows", split(0, 6, 0)));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "6 columns", split(0, 0, -1)));
  c.record.rule.soft_cap = 30;
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "cap", split(0, 0, 0)));
  c.record.rule.soft_cap = 0;
  c.position_keys = Tensor({2, 5, 5});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "positions", split(0, 0, 0)));
}

}  // namespace
}  // namespace fovea
