#include "fovea/kernels/weight_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::for_each_simd_target;
using support::random_floats;

void check(int64_t rows, int64_t cols, int64_t first) {
  std::vector<float> weights =
      random_floats(rows * cols, static_cast<uint64_t>(cols), /*deviation=*/1);
  for (float& weight : weights) weight = std::abs(weight);
  std::vector<float> plain(static_cast<size_t>(cols)), marked(plain.size());
  for (size_t c = 0; c < plain.size(); ++c) {
    plain[c] = c % 3 != 0 ? 1.0F : 0.0F;
    marked[c] = c % 4 == 1 ? 1.0F : 0.0F;
  }
  std::vector<RowPeak> peaks(static_cast<size_t>(rows));
  CellSums sums{.weight = 1, .distance = 2, .marked = 3};  // added to, not replaced
  summarize_rows({weights.data(), rows, cols}, first, plain, marked, peaks, sums);
  CellSums wanted{.weight = 1, .distance = 2, .marked = 3};
  for (int64_t r = 0; r < rows; ++r) {
    RowPeak peak;
    for (int64_t c = 0; c < cols; ++c) {
      const float a = weights[static_cast<size_t>(r * cols + c)];
      if (a > peak.largest) {
        peak.largest = a;
        peak.place = c;
      }
      if (plain[static_cast<size_t>(c)] > 0) peak.largest_plain = std::max(peak.largest_plain, a);
      wanted.weight += double{a};
      wanted.distance += double{a} * std::abs(static_cast<double>(first + r - c));
      wanted.marked += double{a} * double{marked[static_cast<size_t>(c)]};
    }
    EXPECT_EQ(peaks[static_cast<size_t>(r)].largest, peak.largest);
    EXPECT_EQ(peaks[static_cast<size_t>(r)].place, peak.place);
    EXPECT_EQ(peaks[static_cast<size_t>(r)].largest_plain, peak.largest_plain);
  }
  // At most 256 numbers are added in float before they join a double: 256 half ulps at worst.
  EXPECT_NEAR(sums.weight, wanted.weight, 1e-5 * wanted.weight);
  EXPECT_NEAR(sums.distance, wanted.distance, 1e-5 * wanted.distance);
  EXPECT_NEAR(sums.marked, wanted.marked, 1e-5 * wanted.marked);
}

TEST(WeightRows, AreSummarizedAtLengthsAroundTheVectorWidth) {
  for_each_simd_target([] {
    for (int64_t cols = 1; cols <= 70; ++cols) {
      SCOPED_TRACE(cols);
      check(3, cols, cols / 2);
    }
    check(48, 4101, 1000);
  });
}

TEST(WeightRows, PeakAtTheFirstOfEqualWeights) {
  for_each_simd_target([] {
    for (const int64_t cols : {1, 16, 17, 33}) {
      const std::vector<float> weights(static_cast<size_t>(cols), 0.25F);
      std::vector<RowPeak> peaks(1);
      CellSums sums;
      summarize_rows({weights.data(), 1, cols}, 0, weights, weights, peaks, sums);
      EXPECT_EQ(peaks[0].place, 0);
    }
  });
}

TEST(WeightRows, WithoutWeightsHaveNoPeak) {
  const std::vector<float> zeros(20, 0.0F);
  std::vector<RowPeak> peaks(1);
  CellSums sums;
  summarize_rows({zeros.data(), 1, 20}, 4, zeros, zeros, peaks, sums);
  EXPECT_EQ(peaks[0].largest, 0);
  EXPECT_EQ(sums.weight, 0);
}

}  // namespace
}  // namespace fovea
