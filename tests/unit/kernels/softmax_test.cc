#include "fovea/kernels/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/compare.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_floats;
using ::testing::Each;

constexpr float kSoftmaxInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Reference {
  std::vector<double> weights;
  double lse = 0;
};

Reference reference_softmax(const std::vector<float>& row) {
  const double max = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float score : row) sum += std::exp(score - max);
  Reference reference{.weights = {}, .lse = max + std::log(sum)};
  for (const float score : row) reference.weights.push_back(std::exp(score - reference.lse));
  return reference;
}

void check_row(const std::vector<float>& row) {
  const auto cols = static_cast<int64_t>(row.size());
  std::vector<float> weights(row.size());
  std::vector<float> lse(1);
  softmax_rows({row.data(), 1, cols}, {weights.data(), 1, cols}, lse);
  const Reference reference = reference_softmax(row);
  // exp within 1.5 ulp, the subtraction of the maximum within half an ulp of scores up to 40
  // (2e-6), the division within 1 ulp.
  EXPECT_TRUE(all_close(weights, reference.weights, 1e-12, 3e-6));
  EXPECT_NEAR(lse[0], reference.lse, 1e-6 * (1 + std::abs(reference.lse)));
}

TEST(Softmax, MatchesDoubleForLengthsAroundTheVectorWidth) {
  for_each_simd_target([] {
    for (int64_t length = 1; length <= 70; ++length) {
      SCOPED_TRACE(length);
      check_row(random_floats(length, static_cast<uint64_t>(length), /*deviation=*/5));
    }
    for (const int64_t length : {1023, 1024, 1025, 1041, 4097}) {
      SCOPED_TRACE(length);
      check_row(random_floats(length, static_cast<uint64_t>(length), /*deviation=*/5));
    }
  });
}

TEST(Softmax, MaskedEntriesGetZero) {
  for_each_simd_target([] {
    for (int64_t length = 2; length <= 40; ++length) {
      SCOPED_TRACE(length);
      std::vector<float> row = random_floats(length, static_cast<uint64_t>(length));
      for (size_t i = 0; i < row.size(); i += 2) row[i] = -kSoftmaxInfinity;
      std::vector<float> weights(row.size());
      softmax_rows({row.data(), 1, length}, {weights.data(), 1, length});
      for (size_t i = 0; i < row.size(); i += 2) EXPECT_EQ(weights[i], 0.0f);
      check_row(row);
    }
  });
}

TEST(Softmax, FullyMaskedRowBecomesZerosWithLseZero) {
  for_each_simd_target([] {
    std::vector<float> rows(3 * 21, -kSoftmaxInfinity);
    rows[21] = 2.0f;  // the row in the middle sees one entry
    std::vector<float> lse(3, kNan);
    softmax_rows({rows.data(), 3, 21}, {rows.data(), 3, 21}, lse);
    EXPECT_EQ(lse, (std::vector<float>{0, 2, 0}));
    EXPECT_EQ(rows[21], 1.0f);
    rows[21] = 0;
    EXPECT_THAT(rows, Each(0.0f));
  });
}

TEST(Softmax, NanIsNotHidden) {
  for_each_simd_target([] {
    for (size_t place = 0; place < 19; ++place) {
      for (const float other : {-kSoftmaxInfinity, 1.0f}) {
        std::vector<float> row(19, other);
        row[place] = kNan;
        std::vector<float> lse(1);
        softmax_rows({row.data(), 1, 19}, {row.data(), 1, 19}, lse);
        for (const float weight : row) EXPECT_TRUE(std::isnan(weight));
        EXPECT_TRUE(std::isnan(lse[0]));
      }
    }
  });
}

TEST(Softmax, RowsWithAStrideAndManyThreadsGiveTheSame) {
  const int64_t rows = 300, cols = 257, stride = 260;
  const std::vector<float> scores = random_floats(rows * stride, 7);
  std::vector<float> together(scores.size(), 5.0f), apart(scores.size(), 5.0f);
  softmax_rows({scores.data(), rows, cols, stride}, {together.data(), rows, cols, stride});
  for (int64_t r = 0; r < rows; ++r) {
    softmax_rows({scores.data() + r * stride, 1, cols}, {apart.data() + r * stride, 1, cols});
  }
  EXPECT_EQ(together, apart);  // also between the rows, where nothing may be written
}

}  // namespace
}  // namespace fovea
