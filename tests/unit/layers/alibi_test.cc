#include "fovea/layers/alibi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/layers/attention_cache.h"

namespace fovea {
namespace {

TEST(Alibi, SlopesOfEightHeadsHalveFromHeadToHead) {
  const std::vector<float> slopes = alibi_slopes(8);
  ASSERT_EQ(slopes.size(), 8U);
  for (size_t head = 0; head < 8; ++head) {
    EXPECT_NEAR(slopes[head], std::exp2(-static_cast<double>(head) - 1), 1e-7);
  }
}

TEST(Alibi, HeadsBeyondAPowerOfTwoTakeEveryOtherSlopeOfTheNext) {
  const std::vector<float> slopes = alibi_slopes(6), four = alibi_slopes(4),
                           eight = alibi_slopes(8);
  ASSERT_EQ(slopes.size(), 6U);
  for (size_t head = 0; head < 4; ++head) EXPECT_EQ(slopes[head], four[head]);
  EXPECT_EQ(slopes[4], eight[0]);
  EXPECT_EQ(slopes[5], eight[2]);
}

TEST(Alibi, PlacesCountWhatIsNotPadding) {
  const std::vector<int64_t> mask{0, 1, 1, 0, 1};
  EXPECT_EQ(key_places({}, 5, mask), (std::vector<int64_t>{0, 0, 1, 0, 2}));
  EXPECT_EQ(key_places({}, 3, {}), (std::vector<int64_t>{0, 1, 2}));
  AttentionCache cache;
  cache.advance(4);
  EXPECT_EQ(key_places({.cache = &cache}, 1, {}), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(Alibi, OnlyPaddingBetweenTokensNeedsATable) {
  const std::vector<float> slopes{0.5F, 0.25F};
  const std::vector<int64_t> left{0, 0, 1, 1}, right{1, 1, 0, 0}, between{1, 0, 1, 1};
  for (const auto& mask : {left, right}) {
    EXPECT_TRUE(std::holds_alternative<AlibiSlopes>(alibi_bias(slopes, {}, 4, mask)));
  }
  const ScoreBias bias = alibi_bias(slopes, {}, 4, between);
  const auto* table = std::get_if<DenseBias>(&bias);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->values.shape(), Shape({2, 1, 4}));
  EXPECT_EQ(table->values.values<float>()[3], 1.0F);   // place 2 of the first head
  EXPECT_EQ(table->values.values<float>()[6], 0.25F);  // place 1 of the second
  EXPECT_EQ(table->row_index.size(), 4U);
}

}  // namespace
}  // namespace fovea
