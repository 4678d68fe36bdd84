#include "fovea/explain/pictures/artifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "support/errors.h"
#include "support/random.h"

namespace fovea {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(Artifacts, AreExactlyTheThreeLongTokensThatWerePutIn) {
  const PictureAxis axis{{10, 12}, 5};
  Tensor tokens = support::random_tensor({axis.positions(), 32}, 8);
  for (const int64_t patch : {7, 58, 119}) {
    for (int64_t d = 0; d < 32; ++d) tokens.mutable_matrix<float>()(5 + patch, d) *= 6;
  }
  for (int64_t d = 0; d < 32; ++d) tokens.mutable_matrix<float>()(0, d) *= 50;  // [CLS] is no patch
  const Artifacts found = find_artifacts(tokens, axis);
  EXPECT_EQ(found.count(), 3);
  EXPECT_TRUE(found.outliers.holds(7) && found.outliers.holds(58) && found.outliers.holds(119));
  EXPECT_NEAR(found.share(), 3.0 / 120, 1e-15);
}

TEST(Artifacts, AreAboveMedianPlusSixDeviations) {
  // Norms 1 2 3 4 100: median 3, distances 2 1 0 1 97, MAD 1, cut 9.
  Tensor tokens({5, 1});
  for (int64_t i = 0; i < 5; ++i) tokens.mutable_values<float>()[size_t(i)] = -float(i + 1);
  tokens.mutable_values<float>()[4] = 100;
  Artifacts found = find_artifacts(tokens, {{1, 5}, 0});
  EXPECT_THAT(found.norms, ElementsAre(1, 2, 3, 4, 100));
  EXPECT_EQ(found.median, 3);
  EXPECT_EQ(found.deviation, 1);
  EXPECT_EQ(found.cut, 9);
  EXPECT_THAT(found.outliers.cells, ElementsAre(0, 0, 0, 0, 1));
  found = find_artifacts(tokens, {{1, 5}, 0}, {.cut = 3.5});
  EXPECT_THAT(found.outliers.cells, ElementsAre(0, 0, 0, 1, 1));
  // Without the last, 1 2 3 4: median 2.5, distances 1.5 .5 .5 1.5, MAD 1.
  tokens = Tensor::from<float>({4, 1}, std::vector<float>{1, 2, 3, 4});
  found = find_artifacts(tokens, {{2, 2}, 0}, {.factor = 1});
  EXPECT_EQ(found.median, 2.5);
  EXPECT_EQ(found.deviation, 1);
  EXPECT_THAT(found.outliers.cells, ElementsAre(0, 0, 0, 1));
}

TEST(Artifacts, AreNotMadeByRoundingWhereAllNormsAreEqual) {
  Tensor tokens({9, 2});
  for (float& value : tokens.mutable_values<float>()) value = 1;
  tokens.mutable_matrix<float>()(4, 0) = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(find_artifacts(tokens, {{3, 3}, 0}).count(), 0);
}

TEST(Artifacts, NeedFiniteTokensThatFitThePicture) {
  EXPECT_TRUE(fails_cleanly([] { find_artifacts(Tensor({4, 2}), {{2, 2}, 1}); }));
  EXPECT_TRUE(fails_cleanly([] { find_artifacts(Tensor(Shape{4}), {{2, 2}, 0}); }));
  Tensor tokens({4, 2});
  tokens.mutable_values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "patch 1", [&] {
    find_artifacts(tokens, {{2, 2}, 0});
  }));
}

TEST(ExcludeAndRenormalise, KeepsTheSumAndTheProportions) {
  GridMask excluded({1, 4});
  excluded.cells[1] = 1;
  const std::vector<double> weights{.1, .4, .2, .1};
  const RenormalisedRow row = exclude_and_renormalise(weights, excluded);
  EXPECT_THAT(row.weights,
              ElementsAre(DoubleNear(.2, 1e-15), 0, DoubleNear(.4, 1e-15), DoubleNear(.2, 1e-15)));
  EXPECT_NEAR(row.removed, 0.5, 1e-15);
}

TEST(ExcludeAndRenormalise, OfEverythingIsNothing) {
  GridMask excluded({1, 2});
  excluded.cells = {1, 1};
  const RenormalisedRow row = exclude_and_renormalise(std::vector<double>{.3, .7}, excluded);
  EXPECT_THAT(row.weights, ElementsAre(0, 0));
  EXPECT_EQ(row.removed, 1);
  EXPECT_EQ(exclude_and_renormalise(std::vector<double>{0, 0}, excluded).removed, 0);
  EXPECT_TRUE(fails_cleanly([&] { exclude_and_renormalise(std::vector<double>{1}, excluded); }));
}

}  // namespace
}  // namespace fovea
