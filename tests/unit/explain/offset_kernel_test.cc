#include "fovea/explain/pictures/offset_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/explain/pictures/convolution_heads.h"
#include "support/errors.h"
#include "support/random.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::NaivePatches;

TEST(OffsetKernel, EqualsNaiveLoops) {
  const PictureAxis axis{{6, 9}, 3};
  const AttentionCase c = support::picture_case(21, axis, 2);
  const NaivePatches naive(c, axis);
  const auto record = support::shared_record_of(c);
  for (size_t head = 0; head < 2; ++head) {
    const OffsetKernel kernel =
        offset_kernel(AttentionMap(record, int64_t(head)), axis, {.radius = 2});
    for (int64_t dr = -2; dr <= 2; ++dr) {
      for (int64_t dc = -2; dc <= 2; ++dc) {
        double sum = 0;
        for (int64_t r = 2; r < 4; ++r) {
          for (int64_t col = 2; col < 7; ++col) {
            const int64_t i = r * 9 + col;
            sum += naive.weight(head, i, (r + dr) * 9 + col + dc) / naive.given(head, i);
          }
        }
        // Weights are within 1e-6 (docs/numerics.md), their mean too.
        ASSERT_NEAR(kernel.weights(dr + 2, dc + 2), sum / 10, 1e-6);
      }
    }
    EXPECT_EQ(kernel.queries, 10);
  }
}

TEST(OffsetKernel, OfAHeadThatLooksDownAndLeftIsOneCell) {
  const AttentionRecord record = convolution_record(support::random_tensor({2, 8, 8}, 1), 3);
  const auto shared = std::make_shared<const AttentionRecord>(record);
  const PictureAxis axis{{8, 8}, 0};
  const OffsetKernel kernel = offset_kernel(AttentionMap(shared, 6), axis);  // offset (+1, -1)
  ASSERT_EQ(kernel.radius, 2);
  // exp(-60) is nothing in f32.
  EXPECT_NEAR(kernel.weights(3, 1), 1, 1e-6);
  EXPECT_NEAR(kernel.inside, 1, 1e-6);
  EXPECT_NEAR(kernel.centre_row, 1, 1e-6);
  EXPECT_NEAR(kernel.centre_col, -1, 1e-6);
  EXPECT_NEAR(kernel.spread, 0, 1e-3);  // the root of a difference of numbers that are off by 1e-6
  EXPECT_EQ(kernel.level50, kernel.weights(3, 1));
  EXPECT_EQ(kernel.level90, kernel.weights(3, 1));
}

TEST(OffsetKernel, CentreSpreadAndLevelsAreThoseOfItsWeights) {
  const PictureAxis axis{{7, 7}, 1};
  const auto record = support::shared_record_of(support::picture_case(5, axis, 1));
  const OffsetKernel kernel = offset_kernel(AttentionMap(record, 0), axis, {.radius = 1});
  double sum = 0, row = 0, col = 0, square = 0;
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      sum += kernel.weights(r, c);
      row += kernel.weights(r, c) * double(r - 1);
      col += kernel.weights(r, c) * double(c - 1);
    }
  }
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      square += kernel.weights(r, c) / sum *
                (std::pow(double(r - 1) - row / sum, 2) + std::pow(double(c - 1) - col / sum, 2));
    }
  }
  EXPECT_NEAR(kernel.inside, sum, 1e-12);  // the same terms in another order
  EXPECT_NEAR(kernel.centre_row, row / sum, 1e-12);
  EXPECT_NEAR(kernel.centre_col, col / sum, 1e-12);
  EXPECT_NEAR(kernel.spread, std::sqrt(square), 1e-9);
  EXPECT_GE(kernel.level50, kernel.level90);
}

TEST(OffsetKernel, MassLevelIsTheSmallestWeightOfTheSmallestSet) {
  const std::vector<double> weights{.05, .30, .10, .20, .35};
  EXPECT_EQ(mass_level(weights, 0.3), .35);
  EXPECT_EQ(mass_level(weights, 0.5), .30);
  EXPECT_EQ(mass_level(weights, 0.65), .30);
  EXPECT_EQ(mass_level(weights, 0.9), .10);
  EXPECT_EQ(mass_level(weights, 1), .05);
  EXPECT_EQ(mass_level(std::vector<double>{0, 0}, 0.5), 0);
}

TEST(OffsetKernel, NeedsAWindowThatFitsThePicture) {
  const PictureAxis axis{{4, 6}, 1};
  const AttentionMap map(support::shared_record_of(support::picture_case(5, axis, 1)), 0);
  const auto refuses = [&](const KernelOptions& options) {
    return fails_with(ErrorKind::kInvalidArgument, "4 x 6",
                      [&] { offset_kernel(map, axis, options); });
  };
  EXPECT_TRUE(refuses({.radius = 2}));
  EXPECT_TRUE(refuses({.radius = -1}));
  EXPECT_EQ(offset_kernel(map, axis).radius, 1);
  EXPECT_TRUE(fails_cleanly([&] { offset_kernel(map, PictureAxis{{4, 5}, 1}); }));
}

}  // namespace
}  // namespace fovea
