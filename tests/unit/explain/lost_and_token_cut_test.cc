// LOST and TokenCut against numpy and scipy.
#include <gtest/gtest.h>

#include "fovea/base/watch.h"
#include "fovea/explain/pictures/lost.h"
#include "fovea/explain/pictures/token_cut.h"
#include "support/errors.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using support::answer;
using support::answer_box;

struct CutCase {
  std::string name;
  Tensor keys;
  GridShape grid;

  explicit CutCase(int number) : name(fmt::format("cut.{}", number)) {
    keys = support::picture_answers().tensor(name + ".keys");
    const auto sides = answer<int64_t>(name + ".grid");
    grid = {sides[0], sides[1]};
  }
};

class PlantedObjects : public ::testing::TestWithParam<int> {};

TEST_P(PlantedObjects, LostEqualsNumpy) {
  const CutCase c(GetParam());
  const LostObject object =
      lost(c.keys, c.grid, {.expansion = answer<int64_t>(c.name + ".expansion")[0]});
  EXPECT_EQ(object.degrees, answer<int64_t>(c.name + ".lost.degrees"));
  EXPECT_EQ(object.seed, answer<int64_t>(c.name + ".lost.seed")[0]);
  EXPECT_EQ(object.expanded, answer<int64_t>(c.name + ".lost.expanded"));
  EXPECT_EQ(object.foreground.cells, answer<uint8_t>(c.name + ".lost.foreground"));
  EXPECT_EQ(object.mask.cells, answer<uint8_t>(c.name + ".lost.mask"));
  EXPECT_EQ(object.box, answer_box(c.name + ".lost.box"));
}

TEST_P(PlantedObjects, TokenCutEqualsScipy) {
  const CutCase c(GetParam());
  const TokenCutObject object = token_cut(c.keys, c.grid);
  const auto vector = answer<double>(c.name + ".token_cut.vector");
  // Both solvers are off by about their residual (1e-10) over the distance to the next eigenvalue,
  // which the fixture keeps above 1e-7; the vectors' numbers are below 1.
  for (size_t i = 0; i < vector.size(); ++i) {
    ASSERT_NEAR(object.eigenvector[i], vector[i], 1e-5) << "patch " << i;
  }
  EXPECT_NEAR(object.eigenvalue, answer<double>(c.name + ".token_cut.value")[0], 1e-9);
  EXPECT_LE(object.residual, 1e-10);
  EXPECT_EQ(object.seed, answer<int64_t>(c.name + ".token_cut.seed")[0]);
  EXPECT_EQ(object.foreground.cells, answer<uint8_t>(c.name + ".token_cut.foreground"));
  EXPECT_EQ(object.mask.cells, answer<uint8_t>(c.name + ".token_cut.mask"));
  EXPECT_EQ(object.box, answer_box(c.name + ".token_cut.box"));
}
INSTANTIATE_TEST_SUITE_P(Fixture, PlantedObjects, ::testing::Range(0, 5));

// One object on a background, without any noise: rows 2 to 4, columns 3 to 6 of a 7 x 9 grid.
Tensor clean_keys() {
  Tensor keys({63, 4});
  for (int64_t patch = 0; patch < 63; ++patch) {
    const int64_t row = patch / 9;
    const int64_t col = patch % 9;
    const bool object = row >= 2 && row < 5 && col >= 3 && col < 7;
    keys.mutable_matrix<float>()(patch, object ? 1 : 0) = 1;
    if (object) keys.mutable_matrix<float>()(patch, 0) = -0.5F;
  }
  return keys;
}

TEST(Objects, OfTwoPlantedClustersHaveTheExactBox) {
  const GridBox planted{2, 3, 5, 7};
  EXPECT_EQ(lost(clean_keys(), {7, 9}).box, planted);
  EXPECT_EQ(lost(clean_keys(), {7, 9}).seed, 2 * 9 + 3);
  EXPECT_EQ(token_cut(clean_keys(), {7, 9}).box, planted);
  EXPECT_EQ(token_cut(clean_keys(), {7, 9}).seed, 2 * 9 + 3);
}

TEST(Objects, NeedKeysThatFitTheGrid) {
  const auto refuses = [](const Tensor& keys, GridShape grid) {
    return fails_with(ErrorKind::kInvalidArgument, "", [&] { lost(keys, grid); }) &&
           fails_with(ErrorKind::kInvalidArgument, "", [&] { token_cut(keys, grid); });
  };
  EXPECT_TRUE(refuses(clean_keys(), {7, 8}));
  EXPECT_TRUE(refuses(Tensor({1, 4}), {1, 1}));
  EXPECT_TRUE(refuses(clean_keys().reshaped({7, 9, 4}), {7, 9}));
  EXPECT_TRUE(fails_cleanly([] { lost(clean_keys(), {7, 9}, {.expansion = 0}); }));
  EXPECT_TRUE(fails_cleanly([] { token_cut(clean_keys(), {7, 9}, {.weak = 0}); }));
}

TEST(Objects, OfKeysThatAreZeroOrAllAlikeAreSomethingFinite) {
  const LostObject nothing = lost(Tensor({6, 4}), {2, 3});
  EXPECT_EQ(nothing.box, (GridBox{0, 0, 1, 1}));
  const TokenCutObject zero = token_cut(Tensor({6, 4}), {2, 3});
  EXPECT_TRUE(std::isfinite(zero.eigenvalue));
  Tensor alike({6, 4});
  for (float& value : alike.mutable_values<float>()) value = 1;
  const TokenCutObject one = token_cut(alike, {2, 3});
  EXPECT_NEAR(one.eigenvalue, 1, 1e-9);  // every cut is as bad
  EXPECT_EQ(lost(alike, {2, 3}).mask.count(), 6);
}

TEST(Objects, StopWhenCancelled) {
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "", [&] { lost(clean_keys(), {7, 9}, {}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "", [&] { token_cut(clean_keys(), {7, 9}, {}); }));
}

}  // namespace
}  // namespace fovea
