#include "fovea/attention/softmax.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "unit/attention/random_matrix.h"

namespace fovea {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Vector = std::vector<double>;
constexpr double kMasked = -std::numeric_limits<double>::infinity();

TEST(Softmax, FollowsItsDefinition) {
  const Vector weights = softmax(Vector{1, 2, 3});
  const double sum = std::exp(1) + std::exp(2) + std::exp(3);
  EXPECT_NEAR(weights[0], std::exp(1) / sum, 1e-15);  // one rounding per operation
  EXPECT_NEAR(weights[2], std::exp(3) / sum, 1e-15);
}

TEST(Softmax, DoesNotOverflowOnLargeScores) {
  const Vector weights = softmax(Vector{1e300, 1e300, -1e300});
  EXPECT_THAT(weights, ElementsAre(0.5, 0.5, 0));
}

TEST(Softmax, IsUnchangedWhenAllScoresMoveTogether) {
  const Vector a = softmax(Vector{0.1, 0.7, -2});
  const Vector b = softmax(Vector{100.1, 100.7, 98});
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-13);  // 100.1 is rounded
}

TEST(Softmax, GivesMaskedEntriesNothing) {
  const Vector weights = softmax(Vector{1, kMasked, 1});
  EXPECT_THAT(weights, ElementsAre(0.5, 0, 0.5));
}

TEST(Softmax, AFullyMaskedRowIsZeros) {
  EXPECT_THAT(softmax(Vector(4, kMasked)), Each(0.0));
  EXPECT_THAT(softmax(Vector{}), ::testing::IsEmpty());
}

TEST(Softmax, TemperatureZeroTakesTheFirstOfTheLargest) {
  EXPECT_THAT(softmax(Vector{1, 5, 5, 2}, 0), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(softmax(Vector(3, kMasked), 0), Each(0.0));
}

TEST(Softmax, HighTemperatureFlattensAndLowTemperatureSharpens) {
  const Vector scores{0, 1};
  EXPECT_LT(softmax(scores, 10)[1], softmax(scores, 1)[1]);
  EXPECT_LT(softmax(scores, 1)[1], softmax(scores, 0.1)[1]);
  EXPECT_THAT(softmax(scores, std::numeric_limits<double>::denorm_min()), ElementsAre(0, 1));
}

TEST(Softmax, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(softmax(Vector{1, std::nan("")}), Error);
  EXPECT_THROW(softmax(Vector{1, -kMasked}), Error);
  EXPECT_THROW(softmax(Vector{1, 2}, -1), Error);
  EXPECT_THROW(softmax(Vector{1, 2}, std::nan("")), Error);
}

TEST(SoftmaxRows, EqualsTheVectorFormWithMasksAndTemperatures) {
  std::mt19937 random(2);
  Matrix scores = support::random_matrix(6, 5, random);
  scores(0, 1) = scores(2, 4) = kMasked;
  for (double& entry : scores.row(3)) entry = kMasked;
  scores(4, 0) = scores(4, 3) = 9;  // a tie at the top
  for (const double temperature : {1.0, 0.3, 7.0, 0.0}) {
    SCOPED_TRACE(temperature);
    const Matrix weights = softmax_rows(scores, temperature);
    for (int64_t r = 0; r < 6; ++r) {
      const Vector expected = softmax(scores.row(r), temperature);
      for (int64_t c = 0; c < 5; ++c) {
        EXPECT_NEAR(weights(r, c), expected[static_cast<size_t>(c)], 1e-15);
      }
      const auto row = weights.row(r);
      // Five roundings of numbers below 1.
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), r == 3 ? 0 : 1, 1e-15);
    }
  }
}

}  // namespace
}  // namespace fovea
