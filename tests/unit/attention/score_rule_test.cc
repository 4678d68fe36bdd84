#include "fovea/attention/score_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Mask, KeyRangeSaysTheSameAsAllows) {
  for (const int64_t offset : {-5, 0, 4}) {
    for (const int64_t behind : {-1, 0, 2, 100}) {
      for (const int64_t ahead : {-1, 0, 3, 100}) {
        Mask mask{.query_offset = offset};
        if (behind >= 0) mask.behind = behind;
        if (ahead >= 0) mask.ahead = ahead;
        for (int64_t i = 0; i < 12; ++i) {
          const KeyRange range = mask.key_range(i, 9);
          for (int64_t j = 0; j < 9; ++j) {
            EXPECT_EQ(j >= range.begin && j < range.end, mask.allows(i, j))
                << offset << " " << behind << " " << ahead << " " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST(Mask, CausalSeesItselfAndWhatCameBefore) {
  const Mask mask = Mask::causal();
  EXPECT_TRUE(mask.allows(3, 3));
  EXPECT_TRUE(mask.allows(3, 0));
  EXPECT_FALSE(mask.allows(3, 4));
  EXPECT_TRUE(Mask::causal(10).allows(0, 10));
}

TEST(Mask, PaddingAndGroupsHideKeys) {
  Mask mask;
  mask.key_valid = {1, 0, 1};
  EXPECT_FALSE(mask.allows(0, 1));
  mask.query_group = {0, 1};
  mask.key_group = {0, 0, 1};
  EXPECT_TRUE(mask.allows(0, 0));
  EXPECT_FALSE(mask.allows(1, 0));
  EXPECT_TRUE(mask.allows(1, 2));
}

TEST(ReferenceScore, AddsBiasThenCapsThenMasks) {
  const AttentionShape shape{1, 1, 3, 3, 2, 2};
  const std::vector<float> q{1, 2};
  const std::vector<float> k{3, 4};
  ScoreRule rule{.scale = 0.5F};
  EXPECT_DOUBLE_EQ(reference_score(rule, shape, 0, 2, 0, q, k), 5.5);
  rule.bias = AlibiSlopes{{0.25F}};
  EXPECT_DOUBLE_EQ(reference_score(rule, shape, 0, 2, 0, q, k), 5.0);
  rule.soft_cap = 4;
  EXPECT_DOUBLE_EQ(reference_score(rule, shape, 0, 2, 0, q, k), 4 * std::tanh(5.0 / 4));
  rule.mask = Mask::causal();
  EXPECT_TRUE(std::isinf(reference_score(rule, shape, 0, 0, 2, q, k)));
}

TEST(ReferenceScore, PositionTablesMeetQueryAndKey) {
  const AttentionShape shape{1, 1, 2, 2, 1, 1};
  ScoreRule rule{.scale = 1};
  // Distances j - i = -1, 0, 1 use entries 0, 1, 2.
  rule.bias = PositionTables{Tensor::from(Shape{1, 3, 1}, std::vector<float>{10, 20, 30}),
                             Tensor::from(Shape{1, 3, 1}, std::vector<float>{1, 2, 3}),
                             {0, 1, 2}};
  const std::vector<float> q{2};
  const std::vector<float> k{5};
  EXPECT_DOUBLE_EQ(reference_score(rule, shape, 0, 0, 1, q, k), 2 * 5 + 2 * 30 + 5 * 3);
  EXPECT_DOUBLE_EQ(reference_score(rule, shape, 0, 1, 0, q, k), 2 * 5 + 2 * 10 + 5 * 1);
}

// Values of transformers' T5Attention._relative_position_bucket for distances key - query.
TEST(T5Buckets, FollowTheModelsFormula) {
  const auto both = t5_bucket_index(3, 3, 0, true, 32, 128);
  EXPECT_THAT(both, ElementsAre(2, 1, 0, 17, 18));
  const auto past = t5_bucket_index(4, 2, 0, false, 32, 128);
  EXPECT_THAT(past, ElementsAre(3, 2, 1, 0, 0));
  const auto far = t5_bucket_index(200, 1, 0, true, 32, 128);
  EXPECT_EQ(far[199 - 8], 8);
  EXPECT_EQ(far[199 - 127], 15);
  EXPECT_EQ(far[199 - 199], 15);
  const auto offset = t5_bucket_index(1, 5, 4, false, 32, 128);
  EXPECT_THAT(offset, ElementsAre(4, 3, 2, 1, 0));
}

std::string refusal(const ScoreRule& rule, const AttentionShape& shape) {
  try {
    validate(rule, shape);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ScoreRule, FarthestPlacesAndWindowsDoNotOverflow) {
  constexpr int64_t kFarthest = int64_t{1} << 40;
  const AttentionShape shape{1, 1, 3, 4, 8, 8};
  for (const int64_t place : {kFarthest, -kFarthest}) {
    for (const std::optional<int64_t> window :
         {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(kFarthest),
          std::optional<int64_t>(INT64_MAX)}) {
      const Mask mask{.query_offset = place, .behind = window, .ahead = window};
      ASSERT_EQ(refusal({.mask = mask}, shape), "");
      const bool sees = !window || *window == INT64_MAX;
      for (int64_t i = 0; i < shape.rows; ++i) {
        const KeyRange range = mask.key_range(i, shape.cols);
        for (int64_t j = 0; j < shape.cols; ++j) {
          EXPECT_EQ(mask.allows(i, j), range.begin <= j && j < range.end);
          if (sees) {
            EXPECT_TRUE(mask.allows(i, j));
          }
        }
      }
    }
  }
}

TEST(ScoreRule, RefusesHeadsThatNoArithmeticHolds) {
  const int64_t many = int64_t{1} << 62;
  EXPECT_THAT(refusal({}, {many, many, 0, 0, 4, 0}), HasSubstr("heads of size 4"));
  EXPECT_THAT(refusal({}, {1, 1, 0, 0, many, 0}), HasSubstr("heads of size"));
  EXPECT_THAT(refusal({}, {1, 1, 0, 0, 4, many}), HasSubstr("heads of size"));
}

TEST(ScoreRule, ANumberThatIsNotFiniteIsTheFilesFault) {
  const AttentionShape shape{2, 1, 3, 4, 8, 8};
  for (const ScoreRule& rule :
       {ScoreRule{.bias = AlibiSlopes{{1, NAN}}}, ScoreRule{.sink_logit = {0, INFINITY}}}) {
    EXPECT_TRUE(
        fails_with(ErrorKind::kBadFile, "must be a finite number", [&] { validate(rule, shape); }));
  }
}

TEST(ScoreRule, IsCheckedAgainstTheAttention) {
  const AttentionShape shape{2, 1, 3, 4, 8, 8};
  EXPECT_EQ(refusal({}, shape), "");
  EXPECT_THAT(refusal({}, {3, 2, 1, 1, 1, 1}), HasSubstr("3 query heads"));
  EXPECT_THAT(refusal({.scale = INFINITY}, shape), HasSubstr("scale is inf"));
  EXPECT_THAT(refusal({.soft_cap = -1}, shape), HasSubstr("soft cap is -1"));
  EXPECT_THAT(refusal({.sink_logit = {1}}, shape),
              HasSubstr("1 entries but the attention needs 2"));
  EXPECT_THAT(refusal({.mask = {.behind = -1}}, shape), HasSubstr("negative"));
  for (const int64_t place : {int64_t{1} << 60, (int64_t{1} << 40) + 1, -(int64_t{1} << 40) - 1,
                              INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1}) {
    EXPECT_THAT(refusal({.mask = {.query_offset = place}}, shape), HasSubstr("place")) << place;
  }
  EXPECT_THAT(refusal({.mask = {.key_group = {1, 1, 1, 1}}}, shape), HasSubstr("query groups"));
  EXPECT_THAT(refusal({.bias = AlibiSlopes{{1, NAN}}}, shape), HasSubstr("nan"));
  EXPECT_THAT(refusal({.bias = DistanceTable{Tensor(Shape{2, 5}), {0, 1, 2, 3, 4, 5}}}, shape),
              HasSubstr("entry 5 but the table has 5"));
  EXPECT_THAT(refusal({.bias = DistanceTable{Tensor(Shape{2, 5}), {0, 1}}}, shape),
              HasSubstr("needs 6"));
  EXPECT_THAT(refusal({.bias = DenseBias{Tensor(Shape{2, 3, 5}), {}, {}}}, shape),
              HasSubstr("[2, 3, 4]"));
  EXPECT_THAT(refusal({.bias = DenseBias{Tensor(Shape{3, 4}), {}, {}}}, shape),
              HasSubstr("dense bias"));
  EXPECT_THAT(refusal({.bias = DenseBias{Tensor(Shape{1, 2, 2}), {0, 1, 2}, {0, 1, 0, 1}}}, shape),
              HasSubstr("entry 2"));
  EXPECT_THAT(
      refusal({.bias = PositionTables{Tensor(Shape{2, 3, 7}), Tensor(), {0, 0, 0, 0, 0, 0}}},
              shape),
      HasSubstr("[2, 3, 8]"));
}

}  // namespace
}  // namespace fovea
