#include "fovea/explain/pictures/mass_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using support::answer;
using ::testing::ElementsAre;

TEST(MassMask, HoldsSixtyPercentOfTheGoldenWeights) {
  const std::vector<double> weights{.05, .30, .10, .20, .35};
  EXPECT_THAT(mass_mask({1, 5}, weights, 0.6).cells, ElementsAre(0, 1, 0, 0, 1));
  EXPECT_THAT(mass_mask({5, 1}, weights).cells, ElementsAre(0, 1, 0, 0, 1));
}

TEST(MassMask, EqualsNumpyWithAndWithoutEqualWeights) {
  const auto weights = answer<double>("mass.weights");
  const auto shares = answer<double>("mass.shares");
  const auto masks = answer<uint8_t>("mass.masks");
  const size_t patches = weights.size() / shares.size();
  for (size_t row = 0; row < shares.size(); ++row) {
    const auto mask =
        mass_mask({6, 8}, std::span(weights).subspan(row * patches, patches), shares[row]);
    for (size_t i = 0; i < patches; ++i) {
      ASSERT_EQ(mask.cells[i], masks[row * patches + i]) << "row " << row << ", patch " << i;
    }
  }
}

TEST(MassMask, OfEqualWeightsTakesTheLaterPatches) {
  EXPECT_THAT(mass_mask({1, 4}, std::vector<double>{1, 1, 1, 1}, 0.5).cells,
              ElementsAre(0, 0, 1, 1));
}

TEST(MassMask, DoesNotChangeWhenSpecialsTakeAPartOfTheRow) {
  const std::vector<double> weights{.01, .06, .02, .04, .07};
  EXPECT_THAT(mass_mask({1, 5}, weights, 0.6).cells, ElementsAre(0, 1, 0, 0, 1));
}

TEST(MassMask, OfNothingIsEmptyAndOfAShareOfOneHoldsAllThatHasWeight) {
  EXPECT_EQ(mass_mask({1, 3}, std::vector<double>{0, 0, 0}, 0.6).count(), 0);
  EXPECT_THAT(mass_mask({1, 3}, std::vector<double>{0.5, 0, 0.5}, 1).cells, ElementsAre(1, 0, 1));
}

TEST(MassMask, RefusesSharesAndWeightsThatCannotBe) {
  const auto refuses = [](std::vector<double> weights, double share) {
    return fails_with(ErrorKind::kInvalidArgument, "", [&] { mass_mask({1, 2}, weights, share); });
  };
  EXPECT_TRUE(refuses({1, 1}, 0));
  EXPECT_TRUE(refuses({1, 1}, 1.1));
  EXPECT_TRUE(refuses({1, 1}, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(refuses({1, -1}, 0.6));
  EXPECT_TRUE(refuses({1, std::numeric_limits<double>::quiet_NaN()}, 0.6));
  EXPECT_TRUE(refuses({1, std::numeric_limits<double>::infinity()}, 0.6));
  EXPECT_TRUE(refuses({1, 1, 1}, 0.6));
}

TEST(HeadMasks, APatchBelongsToTheHeadThatGivesItMostOfItsOwnSum) {
  // Head 1 gives little to patches at all, but nearly all of that to patch 1.
  const Matrix weights{{.6, .3, .1, 0}, {.00, .09, .00, .01}, {.2, .2, .3, .1}};
  const HeadMasks masks = head_masks({2, 2}, weights, 0.7);
  ASSERT_EQ(masks.heads.size(), 3U);
  EXPECT_THAT(masks.heads[0].cells, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(masks.heads[1].cells, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(masks.heads[2].cells, ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(masks.strongest, ElementsAre(0, 1, 2, -1));
}

TEST(PictureAxis, ReadsTheGridAtTheEndOfAnAxis) {
  Axis axis{.name = "patches", .source = "", .positions = std::vector<Position>(11)};
  axis.grid_rows = 2;
  axis.grid_cols = 3;
  const PictureAxis picture = PictureAxis::of(axis);
  EXPECT_EQ(picture.grid, (GridShape{2, 3}));
  EXPECT_EQ(picture.specials, 5);
  EXPECT_EQ(picture.grid.row_of(4), 1);
  EXPECT_EQ(picture.grid.col_of(4), 1);
  axis.grid_rows = 4;
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "4 x 3", [&] { PictureAxis::of(axis); }));
  axis.grid_rows = 0;
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "patches", [&] { PictureAxis::of(axis); }));
  axis.grid_rows = axis.grid_cols = int64_t{1} << 40;
  EXPECT_TRUE(fails_cleanly([&] { PictureAxis::of(axis); }));
}

}  // namespace
}  // namespace fovea
