#include "fovea/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/watch.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/dot16.h"
#include "fovea/kernels/fixed_point.h"
#include "support/attention_cases.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::dense_attention;
using support::DenseAttention;
using support::for_each_simd_target;
using support::random_case;

AttentionInputs inputs_of(const AttentionCase& c) {
  return {HeadsView::of(c.queries), HeadsView::of(c.keys), HeadsView::of(c.values), &c.rule};
}

struct Result {
  Tensor out;
  std::vector<double> lse;
};

Result run(const AttentionCase& c, DType compute = DType::kF32) {
  Result result{Tensor(Shape{c.shape.heads, c.shape.rows, c.shape.value_dim}),
                std::vector<double>(static_cast<size_t>(c.shape.heads * c.shape.rows), -1.0)};
  AttentionInputs inputs = inputs_of(c);
  inputs.compute = compute;
  validate(inputs);
  attention(inputs, MutableHeadsView::of(result.out), result.lse);
  return result;
}

// Rounds queries and keys as a layer does before it attends.
void round_to_16_bits(AttentionCase& c) {
  c.queries = convert(c.queries, DType::kF32).clone();
  c.keys = convert(c.keys, DType::kF32).clone();
  round_to_units(c.queries.mutable_matrix<float>());
  for (int64_t head = 0; head < c.shape.kv_heads; ++head) {
    round_to_common_unit(c.keys.mutable_matrix<float>(head));
  }
}

double largest_score(const DenseAttention& dense) {
  double largest = 0;
  for (const auto& head : dense.scores) {
    for (const double score : head) {
      if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
    }
  }
  return largest;
}

// With f32, each rounding of a score costs 6e-8 of it, and only a few of them add up. Weights sum
// to 1, so an output is a mean of values. With 16-bit integers the inputs are rounded before the
// comparison, so products are exact and scores and LSE are as good as with f32. Only each weight is
// rounded once more, by at most 2^-8 of it, before it meets its value.
void expect_attention_matches(AttentionCase c, DType compute = DType::kF32) {
  SCOPED_TRACE(c.name);
  const double rounding = compute == DType::kI16 ? 2e-4 : 0;
  if (compute == DType::kI16) round_to_16_bits(c);
  const DenseAttention dense = dense_attention(c);
  const Result result = run(c, compute);
  const Tensor values = convert(c.values, DType::kF32);
  const double tolerance = 2e-6 * (1 + largest_score(dense) / 10);
  double largest_value = 0;
  for (const float value : values.values<float>()) {
    largest_value = std::max(largest_value, std::abs(double{value}));
  }
  for (int64_t h = 0; h < c.shape.heads; ++h) {
    for (int64_t i = 0; i < c.shape.rows; ++i) {
      ASSERT_NEAR(result.lse[size_t(h * c.shape.rows + i)], dense.lse[size_t(h)][size_t(i)],
                  tolerance)
          << "row " << i;
      for (int64_t f = 0; f < c.shape.value_dim; ++f) {
        ASSERT_NEAR(result.out.matrix<float>(h)(i, f),
                    dense.outputs[size_t(h)][size_t(i * c.shape.value_dim + f)],
                    rounding * largest_value + 4 * tolerance)
            << "row " << i << " feature " << f;
      }
    }
  }
}

// Two heads over one of keys, of `length` positions: without a mask and with a causal one.
void expect_length_matches_reference(int64_t length, int64_t head_dim, int64_t value_dim,
                                     DType compute) {
  SCOPED_TRACE(length);
  std::mt19937 random(static_cast<uint32_t>(length));
  AttentionCase c;
  c.shape = {2, 1, length, length, head_dim, value_dim};
  c.rule.scale = 0.25F;
  c.queries = support::random_heads(random, {2, length, head_dim}, 1, DType::kF32);
  c.keys = support::random_heads(random, {1, length, head_dim}, 1, DType::kF32);
  c.values = support::random_heads(random, {1, length, value_dim}, 1, DType::kF32);
  expect_attention_matches(c, compute);
  c.rule.mask = Mask::causal();
  expect_attention_matches(c, compute);
}

TEST(StreamingAttention, MatchesTheDoubleReferenceOnEverySimdTarget) {
  for_each_simd_target([] {
    for (uint32_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(seed);
      expect_attention_matches(random_case(seed, 70, 2));
    }
  });
}

TEST(StreamingAttention, MatchesForLengthsAroundVectorAndBlockWidths) {
  for_each_simd_target([] {
    for (const int64_t length :
         {1, 3, 4, 5, 11, 12, 13, 15, 16, 17, 31, 32, 33, 95, 96, 97, 255, 256, 257, 289}) {
      expect_length_matches_reference(length, 20, 36, DType::kF32);
    }
  });
}

TEST(Attention16, MatchesTheDoubleReferenceOnEverySimdTarget) {
  for_each_simd_target([] {
    for (uint32_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(seed);
      expect_attention_matches(random_case(seed, 70, 2), DType::kI16);
    }
  });
}

TEST(Attention16, MatchesForLengthsAroundVectorAndBlockWidths) {
  for (const int64_t length : {1, 2, 3, 5, 6, 7, 11, 12, 13, 31, 32, 33, 95, 97, 255, 257, 289}) {
    expect_length_matches_reference(length, 21, 37, DType::kI16);
  }
}

TEST(Attention16, TilesOfTheSameQueriesAndKeysSumToOne) {
  // Tiles are f32 and read only the LSE of 16-bit attention: both must mean the same scores. Sums
  // of 289 weights: 1e-6 for each weight's error, weighted, and as much for the LSE's.
  AttentionCase c;
  std::mt19937 random(8);
  c.shape = {1, 1, 50, 289, 64, 64};
  c.rule.scale = 0.125F;
  c.queries = support::random_heads(random, {1, 50, 64}, 2, DType::kF32);
  c.keys = support::random_heads(random, {1, 289, 64}, 2, DType::kF32);
  c.values = support::random_heads(random, {1, 289, 64}, 1, DType::kF32);
  round_to_16_bits(c);
  const Result result = run(c, DType::kI16);
  Tensor tile(Shape{50, 289});
  HeadTiles(inputs_of(c), 0, {0, 289})
      .weights(0, {0, 289}, result.lse, tile.mutable_matrix<float>());
  for (int64_t i = 0; i < 50; ++i) {
    const float* row = tile.matrix<float>().row(i);
    EXPECT_NEAR(std::accumulate(row, row + 289, 0.0), 1, 5e-6) << "row " << i;
  }
}

TEST(Attention16, IsUsedOnlyWhereAskedFor) {
  // Without the word for it, nothing is rounded.
  const AttentionCase c = [] {
    std::mt19937 random(9);
    AttentionCase made;
    made.shape = {1, 1, 8, 40, 16, 16};
    made.queries = support::random_heads(random, {1, 8, 16}, 1, DType::kF32);
    made.keys = support::random_heads(random, {1, 40, 16}, 1, DType::kF32);
    made.values = support::random_heads(random, {1, 40, 16}, 1, DType::kF32);
    return made;
  }();
  expect_attention_matches(c);
  const bool differs =
      !std::ranges::equal(run(c).out.values<float>(), run(c, DType::kI16).out.values<float>());
  EXPECT_EQ(differs, has_i16_dot());
}

TEST(Attention16, ScoresOfNumbersNotYetRoundedAreNear) {
  // |q| |k| times the scale is about 800. A unit is up to 1/23,000 of a norm, so that rounding q or
  // k moves a score by 1.2e-5 of that: 0.014 for both, and four times as much at most.
  AttentionCase c;
  std::mt19937 random(10);
  c.shape = {1, 1, 30, 100, 64, 0};
  c.rule.scale = 0.125F;
  c.queries = support::random_heads(random, {1, 30, 64}, 10, DType::kF32);
  c.keys = support::random_heads(random, {1, 100, 64}, 10, DType::kF32);
  c.values = Tensor(Shape{1, 100, 0});
  const Result exact = run(c), rounded = run(c, DType::kI16);
  for (size_t i = 0; i < exact.lse.size(); ++i) {
    EXPECT_NEAR(rounded.lse[i], exact.lse[i], 0.06);
  }
}

TEST(StreamingAttention, RowsThatSeeNothingAreZero) {
  AttentionCase c = random_case(1, 8, 1);
  c.rule = {};
  c.rule.mask.key_valid.assign(static_cast<size_t>(c.shape.cols), 0);
  c.rule.sink_logit.assign(static_cast<size_t>(c.shape.heads), 1.0F);
  const Result result = run(c);
  for (const double lse : result.lse) EXPECT_EQ(lse, 0);
  for (const float value : result.out.values<float>()) EXPECT_EQ(value, 0);
}

TEST(StreamingAttention, NoKeysAtAllGiveZeros) {
  AttentionCase c;
  c.shape = {1, 1, 3, 0, 4, 4};
  c.queries = Tensor(Shape{1, 3, 4});
  c.keys = Tensor(Shape{1, 0, 4});
  c.values = Tensor(Shape{1, 0, 4});
  for (const DType compute : {DType::kF32, DType::kI16}) {
    const Result result = run(c, compute);
    for (const double lse : result.lse) EXPECT_EQ(lse, 0);
  }
}

TEST(StreamingAttention, HugeScoresStayFinite) {
  AttentionCase c = random_case(3, 40, 1);
  c.rule = {};
  c.rule.scale = 1e4F;
  const Result result = run(c);
  for (const double lse : result.lse) EXPECT_TRUE(std::isfinite(lse));
  for (const float value : result.out.values<float>()) EXPECT_TRUE(std::isfinite(value));
}

TEST(StreamingAttention, ReadsInterleavedHeads) {
  // [rows, heads * dim], as a projection gives it, against the same numbers as [heads, rows, dim].
  std::mt19937 random(5);
  const Tensor packed = support::random_heads(random, {1, 9, 3 * 8}, 1, DType::kF32);
  AttentionCase c;
  c.shape = {3, 3, 9, 9, 8, 8};
  c.queries = Tensor(Shape{3, 9, 8});
  for (int64_t h = 0; h < 3; ++h) {
    for (int64_t i = 0; i < 9; ++i) {
      std::copy_n(packed.matrix<float>().row(i) + h * 8, 8,
                  c.queries.mutable_matrix<float>(h).row(i));
    }
  }
  c.keys = c.queries;
  c.values = c.queries;
  const Result expected = run(c);
  const HeadsView view{packed.raw(), DType::kF32, 3, 9, 8, 8, 24};
  Tensor out(Shape{9, 24});
  std::vector<double> lse(27);
  attention({view, view, view, &c.rule}, {out.mutable_values<float>().data(), 8, 24}, lse);
  EXPECT_EQ(lse, expected.lse);
  for (int64_t h = 0; h < 3; ++h) {
    for (int64_t i = 0; i < 9; ++i) {
      for (int64_t f = 0; f < 8; ++f) {
        EXPECT_EQ(out.matrix<float>()(i, h * 8 + f), expected.out.matrix<float>(h)(i, f));
      }
    }
  }
}

TEST(StreamingAttention, StopsWhenCancelled) {
  const AttentionCase c = random_case(2, 40, 1);
  Result result{Tensor(Shape{c.shape.heads, c.shape.rows, c.shape.value_dim}),
                std::vector<double>(static_cast<size_t>(c.shape.heads * c.shape.rows))};
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  try {
    attention(inputs_of(c), MutableHeadsView::of(result.out), result.lse);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  }
}

TEST(StreamingAttention, RefusesWhatDoesNotFit) {
  const auto refused = [](const AttentionCase& c) {
    try {
      validate(inputs_of(c));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kUnsupported;
    }
    return false;
  };
  AttentionCase c;
  c.queries = Tensor(Shape{4, 5, 8});
  c.keys = Tensor(Shape{2, 6, 8});
  c.values = Tensor(Shape{2, 6, 8});
  EXPECT_FALSE(refused(c));
  AttentionCase other = c;
  other.keys = Tensor(Shape{3, 6, 8});
  EXPECT_TRUE(refused(other)) << "4 heads over 3";
  other = c;
  other.keys = Tensor(Shape{2, 6, 7});
  EXPECT_TRUE(refused(other)) << "other head size";
  other = c;
  other.values = Tensor(Shape{2, 7, 8});
  EXPECT_TRUE(refused(other)) << "more values than keys";
  other = c;
  other.queries = Tensor(Shape{4, 5, 257});
  other.keys = Tensor(Shape{2, 6, 257});
  EXPECT_TRUE(refused(other)) << "head size above 256";
  other = c;
  other.rule.bias = AlibiSlopes{{1, 2, 3}};
  EXPECT_TRUE(refused(other)) << "3 slopes for 4 heads";
}

TEST(HeadTiles, ScoresAndWeightsMatchTheReference) {
  for_each_simd_target([] {
    for (uint32_t seed = 100; seed < 130; ++seed) {
      const AttentionCase c = random_case(seed, 50, 2);
      SCOPED_TRACE(c.name);
      const DenseAttention dense = dense_attention(c);
      const AttentionInputs inputs = inputs_of(c);
      for (int64_t head = 0; head < c.shape.heads; ++head) {
        const int64_t begin = std::min<int64_t>(3, c.shape.cols - 1);
        const KeyRange columns{begin, c.shape.cols};
        const HeadTiles tiles(inputs, head, columns);
        Tensor scores(Shape{c.shape.rows, columns.end - columns.begin});
        tiles.scores(0, columns, scores.mutable_matrix<float>());
        Tensor weights(scores.shape());
        const auto& lse = dense.lse[static_cast<size_t>(head)];
        tiles.weights(0, columns, lse, weights.mutable_matrix<float>());
        for (int64_t i = 0; i < c.shape.rows; ++i) {
          for (int64_t j = begin; j < c.shape.cols; ++j) {
            const auto cell = static_cast<size_t>(i * c.shape.cols + j);
            const double score = dense.scores[static_cast<size_t>(head)][cell];
            if (std::isinf(score)) {
              ASSERT_EQ(scores.matrix<float>()(i, j - begin), score);
              ASSERT_EQ(weights.matrix<float>()(i, j - begin), 0);
            } else {
              ASSERT_NEAR(scores.matrix<float>()(i, j - begin), score,
                          1e-6 * (1 + std::abs(score)));
            }
            ASSERT_NEAR(weights.matrix<float>()(i, j - begin),
                        dense.weights[static_cast<size_t>(head)][cell], 2e-6);
          }
        }
      }
    }
  });
}

TEST(HeadTiles, WeightsAndEntropyAreThoseThatAreAskedForAlone) {
  for_each_simd_target([] {
    for (const int64_t cols : {1, 15, 16, 17, 300}) {
      SCOPED_TRACE(cols);
      const AttentionCase c = random_case(static_cast<uint32_t>(cols), cols, 2);
      const AttentionInputs inputs = inputs_of(c);
      const KeyRange all{0, c.shape.cols};
      const HeadTiles tiles(inputs, 0, all);
      const std::vector<double> lse = dense_attention(c).lse[0];
      Tensor alone(Shape{c.shape.rows, c.shape.cols}), both(alone.shape());
      std::vector<double> entropies(lse.size(), 1), entropies_of_both(lse.size(), 1);
      tiles.weights(0, all, lse, alone.mutable_matrix<float>());
      tiles.add_entropy(0, all, lse, entropies);
      tiles.weights_and_entropy(0, all, lse, both.mutable_matrix<float>(), entropies_of_both);
      EXPECT_TRUE(std::ranges::equal(alone.values<float>(), both.values<float>()));
      EXPECT_EQ(entropies, entropies_of_both);
    }
  });
}

TEST(DotTile, IsAPlainProductOfRows) {
  std::mt19937 random(9);
  const Tensor a = support::random_heads(random, {2, 30, 19}, 1, DType::kF32);
  const Tensor b = support::random_heads(random, {1, 50, 19}, 1, DType::kF32);
  Tensor out(Shape{20, 41});
  dot_tile(HeadsView::of(a), 1, 7, HeadsView::of(b), 0, {5, 46}, out.mutable_matrix<float>());
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 41; ++j) {
      double expected = 0;
      for (int64_t c = 0; c < 19; ++c) {
        expected += double{a.matrix<float>(1)(7 + i, c)} * double{b.matrix<float>(0)(5 + j, c)};
      }
      ASSERT_NEAR(out.matrix<float>()(i, j), expected, 1e-5);
    }
  }
}

}  // namespace
}  // namespace fovea
