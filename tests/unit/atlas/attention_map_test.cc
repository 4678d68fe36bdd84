#include "fovea/atlas/attention_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/watch.h"
#include "support/records.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::dense_attention;
using support::DenseAttention;
using support::plain_case;
using support::random_case;
using support::record_of;
using support::shared_record_of;
using ::testing::Each;

// The accuracy contract of docs/numerics.md: 1e-6 where no score of the case is above 20, and
// 1e-6 * (1 + |score|) beyond. The score that counts is the one before a soft cap.
double tolerance(AttentionCase c) {
  c.rule.soft_cap = 0;
  const DenseAttention dense = dense_attention(c);
  double largest = 0;
  for (const auto& head : dense.scores) {
    for (const double score : head) {
      if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
    }
  }
  return largest <= 20 ? 1e-6 : 1e-6 * (1 + largest);
}

void expect_map_is_exact(const AttentionCase& c) {
  SCOPED_TRACE(c.name);
  const DenseAttention dense = dense_attention(c);
  const double allowed = tolerance(c);
  const auto record = shared_record_of(c);
  validate(*record);
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    const AttentionMap map(record, head);
    const Tensor tile = map.tile(map.whole());
    const auto& expected = dense.weights[static_cast<size_t>(head)];
    const auto found = tile.values<float>();
    double worst = 0;
    for (size_t cell = 0; cell < expected.size(); ++cell) {
      worst = std::max(worst, std::abs(double{found[cell]} - expected[cell]));
    }
    ASSERT_LE(worst, allowed) << "head " << head;
  }
}

TEST(AttentionMap, EqualsTheDenseReferenceForHundredsOfRandomCases) {
  for (uint32_t seed = 0; seed < support::cases(400); ++seed) {
    SCOPED_TRACE(seed);
    static constexpr double kSpreads[] = {0.3, 1, 3, 5};
    expect_map_is_exact(random_case(seed, 90, kSpreads[seed % 4]));
  }
}

TEST(AttentionMap, EqualsTheDenseReferenceWhenScoresAreHuge) {
  for (uint32_t seed = 1000; seed < 1060; ++seed) {
    SCOPED_TRACE(seed);
    expect_map_is_exact(random_case(seed, 60, seed % 2 == 0 ? 15 : 60));
  }
}

TEST(AttentionMap, EqualsTheDenseReferenceAcrossManyBlocks) {
  for (const bool causal : {false, true}) {
    expect_map_is_exact(plain_case(700, 64, causal, 11));
  }
}

TEST(AttentionMap, CellRowColumnAndTileAgreeToTheBit) {
  const AttentionCase c = random_case(7, 90, 2);
  SCOPED_TRACE(c.name);
  const AttentionMap map(shared_record_of(c), c.shape.heads - 1);
  const Tensor whole = map.tile(map.whole());
  const auto at = [&](int64_t i, int64_t j) { return whole.matrix<float>()(i, j); };
  for (int64_t i = 0; i < map.rows(); i += 7) {
    const auto row = map.row(i);
    for (int64_t j = 0; j < map.cols(); ++j) ASSERT_EQ(row[static_cast<size_t>(j)], at(i, j));
  }
  for (int64_t j = 0; j < map.cols(); j += 5) {
    const auto column = map.column(j);
    for (int64_t i = 0; i < map.rows(); ++i) ASSERT_EQ(column[static_cast<size_t>(i)], at(i, j));
    ASSERT_EQ(map.cell(map.rows() - 1, j), at(map.rows() - 1, j));
  }
  const Region part{map.rows() / 3, map.rows(), map.cols() / 4, map.cols() - map.cols() / 5};
  const Tensor tile = map.tile(part);
  for (int64_t i = 0; i < part.rows(); ++i) {
    for (int64_t j = 0; j < part.cols(); ++j) {
      ASSERT_EQ(tile.matrix<float>()(i, j), at(part.row_begin + i, part.col_begin + j));
    }
  }
}

TEST(AttentionMap, RowsSumToOne) {
  const AttentionMap map(shared_record_of(plain_case(300, 32, true, 3)), 0);
  for (int64_t i = 0; i < map.rows(); i += 13) {
    const auto row = map.row(i);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-6);
  }
}

TEST(AttentionMap, TopOfARowIsItsLargestWeights) {
  const AttentionCase c = random_case(12, 80, 2);
  const AttentionMap map(shared_record_of(c), 0);
  const auto row = map.row(0);
  std::vector<float> sorted(row);
  std::sort(sorted.rbegin(), sorted.rend());
  const auto top = map.row_top(0, 5);
  for (size_t k = 0; k < top.size(); ++k) {
    EXPECT_EQ(top[k].weight, sorted[k]);
    EXPECT_EQ(row[static_cast<size_t>(top[k].column)], top[k].weight);
  }
  EXPECT_TRUE(map.row_top(0, 0).empty());
  EXPECT_TRUE(map.row_top(0, -3).empty());
  EXPECT_LE(map.row_top(0, 1000).size(), row.size());
}

// One dense f64 matrix of a head.
struct Dense {
  const std::vector<double>& weights;
  int64_t cols;
  double operator()(int64_t i, int64_t j) const {
    return weights[static_cast<size_t>(i * cols + j)];
  }
};

TEST(AttentionMap, ReductionsEqualTheDenseReference) {
  for (uint32_t seed = 200; seed < 260; ++seed) {
    const AttentionCase c = random_case(seed, 120, 2);
    SCOPED_TRACE(c.name);
    const DenseAttention dense = dense_attention(c);
    const auto record = shared_record_of(c);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (int64_t head = 0; head < c.shape.heads; ++head) {
      const AttentionMap map(record, head);
      const Dense a{dense.weights[static_cast<size_t>(head)], c.shape.cols};
      std::vector<double> weights(static_cast<size_t>(map.rows()));
      for (double& weight : weights) weight = normal(random);
      Tensor x(Shape{map.cols(), 3});
      for (float& value : x.mutable_values<float>()) value = static_cast<float>(normal(random));
      const auto sums = map.column_sums();
      const auto left = map.times_left(weights);
      for (int64_t j = 0; j < map.cols(); ++j) {
        double sum = 0;
        double weighted = 0;
        for (int64_t i = 0; i < map.rows(); ++i) {
          sum += a(i, j);
          weighted += weights[static_cast<size_t>(i)] * a(i, j);
        }
        // Up to 120 rows of weights, each within 1e-6.
        ASSERT_NEAR(sums[static_cast<size_t>(j)], sum, 2e-5);
        ASSERT_NEAR(left[static_cast<size_t>(j)], weighted, 2e-5);
      }
      const Tensor right = map.times_right(x);
      const auto entropy = map.entropy();
      for (int64_t i = 0; i < map.rows(); ++i) {
        double expected_entropy = 0;
        double product[3] = {};
        for (int64_t j = 0; j < map.cols(); ++j) {
          if (a(i, j) > 0) expected_entropy -= a(i, j) * std::log(a(i, j));
          for (int64_t f = 0; f < 3; ++f) product[f] += a(i, j) * double{x.matrix<float>()(j, f)};
        }
        ASSERT_NEAR(entropy[static_cast<size_t>(i)], expected_entropy, 2e-5);
        for (int64_t f = 0; f < 3; ++f) ASSERT_NEAR(right.matrix<float>()(i, f), product[f], 1e-5);
      }
    }
  }
}

TEST(AttentionMap, TimesRightTakesAnyNumberOfFeatures) {
  const AttentionCase c = plain_case(40, 16, false, 4);
  const AttentionMap map(shared_record_of(c), 0);
  Tensor ones(Shape{40, 600});
  for (float& value : ones.mutable_values<float>()) value = 1;
  const Tensor sums = map.times_right(ones);
  for (const float value : sums.values<float>()) ASSERT_NEAR(value, 1, 1e-6);
}

TEST(AttentionMap, PooledTilesEqualTheDenseReference) {
  for (uint32_t seed = 300; seed < 340; ++seed) {
    const AttentionCase c = random_case(seed, 130, 2);
    SCOPED_TRACE(c.name);
    const DenseAttention dense = dense_attention(c);
    const AttentionMap map(shared_record_of(c), 0);
    const Dense a{dense.weights[0], c.shape.cols};
    const Region region{map.rows() / 5, map.rows(), map.cols() / 7, map.cols()};
    for (const int64_t bin : {1, 2, 5, 64}) {
      const PooledTile pooled = map.pooled(region, bin);
      const Tensor mean = pooled.mean();
      for (int64_t r = 0; r < pooled.max.size(0); ++r) {
        for (int64_t s = 0; s < pooled.max.size(1); ++s) {
          double largest = 0;
          double sum = 0;
          int64_t count = 0;
          for (int64_t i = region.row_begin + r * bin;
               i < std::min(region.row_begin + (r + 1) * bin, region.row_end); ++i) {
            for (int64_t j = region.col_begin + s * bin;
                 j < std::min(region.col_begin + (s + 1) * bin, region.col_end); ++j) {
              largest = std::max(largest, a(i, j));
              sum += a(i, j);
              count += c.rule.mask.allows(i, j) ? 1 : 0;
            }
          }
          ASSERT_NEAR(pooled.max.matrix<float>()(r, s), largest, 2e-6);
          ASSERT_NEAR(pooled.sum.matrix<float>()(r, s), sum, 5e-5);  // up to 64 x 64 weights
          ASSERT_EQ(pooled.count.matrix<int64_t>()(r, s), count);
          ASSERT_NEAR(mean.matrix<float>()(r, s), count == 0 ? 0 : sum / double(count), 2e-6);
        }
      }
    }
  }
}

TEST(AttentionMap, GradientTileIsOutputGradientTimesValues) {
  AttentionCase c = random_case(21, 60, 1);
  AttentionRecord record = record_of(c);
  std::mt19937 random(2);
  record.output_gradient = support::random_heads(
      random, {c.shape.heads, c.shape.rows, c.shape.value_dim}, 1, DType::kF32);
  validate(record);
  const auto shared = std::make_shared<const AttentionRecord>(record);
  const int64_t head = c.shape.heads - 1;
  const Tensor tile = AttentionMap(shared, head).gradient_tile({0, c.shape.rows, 0, c.shape.cols});
  for (int64_t i = 0; i < c.shape.rows; ++i) {
    const auto gradient = support::row_of(record.output_gradient, head, i);
    for (int64_t j = 0; j < c.shape.cols; ++j) {
      const auto value = support::row_of(c.values, c.shape.kv_head(head), j);
      const double expected =
          std::inner_product(gradient.begin(), gradient.end(), value.begin(), 0.0);
      ASSERT_NEAR(tile.matrix<float>()(i, j), expected, 1e-4);
    }
  }
}

TEST(AttentionMap, TakesALogSumExpInSinglePrecision) {
  const AttentionCase c = plain_case(50, 16, false, 8);
  AttentionRecord record = record_of(c);
  record.lse = convert(record.lse, DType::kF32);
  const AttentionMap map(std::make_shared<const AttentionRecord>(record), 0);
  const auto row = map.row(3);
  EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 2e-6);
}

TEST(AttentionMap, RefusesWhatIsOutside) {
  const auto record = shared_record_of(plain_case(10, 8, false, 1));
  const auto refused = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kInvalidArgument;
    }
    return false;
  };
  const AttentionMap map(record, 0);
  EXPECT_TRUE(refused([&] { AttentionMap(record, 1); }));
  EXPECT_TRUE(refused([&] { AttentionMap(record, -1); }));
  EXPECT_TRUE(refused([&] { map.cell(10, 0); }));
  EXPECT_TRUE(refused([&] { map.row(-1); }));
  EXPECT_TRUE(refused([&] { map.tile(Region{0, 11, 0, 1}); }));
  EXPECT_TRUE(refused([&] { map.tile(Region{5, 4, 0, 1}); }));
  EXPECT_TRUE(refused([&] { map.pooled(map.whole(), 0); }));
  EXPECT_TRUE(refused([&] { map.times_left(std::vector<double>(9)); }));
  EXPECT_TRUE(refused([&] { map.times_right(Tensor(Shape{9, 2})); }));
  EXPECT_TRUE(refused([&] { map.gradient_tile(map.whole()); }));
}

TEST(AttentionMap, StopsWhenCancelled) {
  const AttentionMap map(shared_record_of(plain_case(64, 8, false, 1)), 0);
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  const auto cancelled = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kCancelled;
    }
    return false;
  };
  EXPECT_TRUE(cancelled([&] { map.tile(map.whole()); }));
  EXPECT_TRUE(cancelled([&] { map.pooled(map.whole(), 4); }));
  EXPECT_TRUE(cancelled([&] { map.column_sums(); }));
  EXPECT_TRUE(cancelled([&] { map.entropy(); }));
  EXPECT_TRUE(cancelled([&] { map.times_right(Tensor(Shape{64, 2})); }));
}

TEST(AttentionMap, BFloat16RecordsWork) {
  AttentionCase c = plain_case(90, 64, true, 5);
  c.queries = convert(c.queries, DType::kBF16);
  c.keys = convert(c.keys, DType::kBF16);
  c.values = convert(c.values, DType::kBF16);
  expect_map_is_exact(c);
}

}  // namespace
}  // namespace fovea
