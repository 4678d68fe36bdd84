#include <gtest/gtest.h>

#include <cmath>

#include "fovea/atlas/pyramid.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::plain_case;
using support::shared_record_of;

TEST(SampledTile, BlocksWithNoMoreRowsThanAreReadAreExact) {
  for (const bool causal : {false, true}) {
    const AttentionMap map(shared_record_of(plain_case(330, 16, causal, 1)), 0);
    const Region region{7, 330, 3, 320};
    const SampledTile sampled = map.sampled(region, 12, 12);
    const PooledTile pooled = map.pooled(region, 12);
    ASSERT_EQ(sampled.sum.shape(), pooled.sum.shape());
    for (int64_t i = 0; i < pooled.sum.elements(); ++i) {
      const auto place = static_cast<size_t>(i);
      ASSERT_EQ(sampled.max.values<float>()[place], pooled.max.values<float>()[place]);
      // Both add the same 144 weights in f32, in another order.
      ASSERT_NEAR(sampled.sum.values<float>()[place], pooled.sum.values<float>()[place], 1e-5);
      ASSERT_EQ(sampled.error.values<float>()[place], 0);
    }
  }
}

TEST(SampledTile, IsTheSameInEveryCallAndAnotherForAnotherSeed) {
  const AttentionMap map(shared_record_of(plain_case(400, 16, false, 2)), 0);
  const SampledTile first = map.sampled(map.whole(), 100, 6);
  const SampledTile again = map.sampled(map.whole(), 100, 6);
  const SampledTile other = map.sampled(map.whole(), 100, 6, 1);
  EXPECT_TRUE(std::ranges::equal(first.sum.values<float>(), again.sum.values<float>()));
  EXPECT_FALSE(std::ranges::equal(first.sum.values<float>(), other.sum.values<float>()));
}

TEST(SampledTile, MaximumIsNeverAboveTheTrueOne) {
  const AttentionMap map(shared_record_of(plain_case(500, 16, true, 3)), 0);
  const SampledTile sampled = map.sampled(map.whole(), 90, 12);
  const PooledTile pooled = map.pooled(map.whole(), 90);
  for (size_t i = 0; i < size_t(pooled.max.elements()); ++i) {
    ASSERT_LE(sampled.max.values<float>()[i], pooled.max.values<float>()[i]);
  }
}

// Over many draws the mean of the estimates meets the sum, and their spread the error they state.
TEST(SampledTile, SumIsUnbiasedAndItsErrorIsWhatItSays) {
  const AttentionMap map(shared_record_of(plain_case(600, 16, true, 4)), 0);
  constexpr int kDraws = 300;
  // Blocks of 150 and, at the end, of 100 rows.
  const Region region{50, 600, 0, 500};
  const PooledTile exact = map.pooled(region, 150);
  const auto blocks = size_t(exact.sum.elements());
  std::vector<double> sums(blocks), squares(blocks), variances(blocks);
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const SampledTile sampled = map.sampled(region, 150, 12, seed);
    for (size_t b = 0; b < blocks; ++b) {
      const double off = double{sampled.sum.values<float>()[b]} - exact.sum.values<float>()[b];
      sums[b] += off;
      squares[b] += off * off;
      variances[b] += std::pow(double{sampled.error.values<float>()[b]}, 2);
    }
  }
  for (size_t b = 0; b < blocks; ++b) {
    SCOPED_TRACE(b);
    const double spread = std::sqrt(squares[b] / kDraws);
    // The mean of 300 draws is off by spread / 17; five times that, so that no draw fails by
    // chance.
    EXPECT_LE(std::abs(sums[b] / kDraws), 5 * spread / std::sqrt(double(kDraws)) + 1e-6);
    // Stated as for rows drawn from the whole block, so at least what is seen but for the chance of
    // 300 draws, some 10 %; blocks on the diagonal, whose rows change along it, are overstated.
    EXPECT_GE(std::sqrt(variances[b] / kDraws), 0.9 * spread - 1e-6);
  }
}

TEST(SampledTile, RefusesSamplesThatTellNoError) {
  const AttentionMap map(shared_record_of(plain_case(50, 8, false, 1)), 0);
  EXPECT_THROW(map.sampled(map.whole(), 10, 1), Error);
  EXPECT_THROW(map.sampled(map.whole(), 0, 4), Error);
  EXPECT_THROW(map.sampled({0, 51, 0, 50}, 10, 4), Error);
}

TEST(Pyramid, FirstLookHasTheShapeOfTheTileAndItsMass) {
  const AttentionMap map(shared_record_of(plain_case(2000, 16, true, 5)), 0);
  const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{1} << 20));
  const int top = pyramid.levels() - 1;
  const PyramidTile look = pyramid.first_look(top, 0, 0, 4);
  EXPECT_EQ(look.sum.shape(), pyramid.tile(top, 0, 0)->sum.shape());
  double total = 0;
  for (const float sum : look.sum.values<float>()) total += double{sum};
  EXPECT_NEAR(total, 2000, 1e-2);  // every row that is read sums to 1, to 2e-6
}

}  // namespace
}  // namespace fovea
