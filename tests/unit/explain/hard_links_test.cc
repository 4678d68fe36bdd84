#include "fovea/explain/alignment/hard_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SoftAlignment soft(Matrix weights) {
  std::vector<double> elsewhere(static_cast<size_t>(weights.rows()), 0.0);
  return {std::move(weights), std::move(elsewhere)};
}

TEST(HardLinks, ArgmaxTakesTheLargestOfEachTargetAndTheFirstOfEquals) {
  EXPECT_THAT(hard_links(soft({{0.1, 0.7, 0.2}, {0.4, 0.2, 0.4}})),
              ElementsAre(Link{0, 1}, Link{1, 0}));
}

TEST(HardLinks, ASpecialPositionThatHasMoreTakesTheLinkAway) {
  SoftAlignment one = soft({{0.3, 0.2}, {0.3, 0.2}});
  one.elsewhere = {0.5, 0.3};
  EXPECT_THAT(hard_links(one), ElementsAre(Link{0, 1}));
  EXPECT_THAT(hard_links(one, {.specials_compete = false}), ElementsAre(Link{0, 0}, Link{0, 1}));
}

TEST(HardLinks, ThresholdTakesAllThatReachIt) {
  const LinkRule rule{.method = LinkMethod::kThreshold, .threshold = 0.4};
  EXPECT_THAT(hard_links(soft({{0.4, 0.6}, {0.39, 0.1}}), rule),
              ElementsAre(Link{0, 0}, Link{1, 0}));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "above 0", [&] {
      hard_links(soft({{1}}), {.method = LinkMethod::kThreshold, .threshold = bad});
    }));
  }
}

TEST(HardLinks, MutualTakesWhatIsLargestBothWays) {
  // Target 1 prefers source 0 too, but source 0 prefers target 0.
  EXPECT_THAT(hard_links(soft({{0.9, 0.1}, {0.6, 0.4}}), {.method = LinkMethod::kMutual}),
              ElementsAre(Link{0, 0}));
}

TEST(HardLinks, ARowWithoutWeightHasNoLink) {
  EXPECT_THAT(hard_links(soft({{0, 0}, {0, 0}})), IsEmpty());
  EXPECT_THAT(hard_links(soft({{0, 0}}), {.method = LinkMethod::kMutual}), IsEmpty());
  EXPECT_THAT(hard_links(soft(Matrix(0, 3))), IsEmpty());
  EXPECT_THAT(hard_links(soft(Matrix(3, 0))), IsEmpty());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(hard_links(soft({{nan, 0.1}})), ElementsAre(Link{1, 0}));
}

TEST(HardLinks, MutualIsWhatBothDirectionsOfArgmaxShare) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform;
  for (int round = 0; round < 200; ++round) {
    Matrix weights(1 + random() % 7, 1 + random() % 7);
    for (int64_t i = 0; i < weights.rows(); ++i) {
      for (double& weight : weights.row(i)) weight = uniform(random);
    }
    const Alignment rows = hard_links(soft(weights));
    const Alignment cols = transposed(hard_links(soft(transpose(weights))));
    Alignment both;
    std::ranges::set_intersection(rows, cols, std::back_inserter(both));
    ASSERT_EQ(hard_links(soft(weights), {.method = LinkMethod::kMutual}), both);
  }
}

TEST(HardLinks, NamesComeBackAndWhatDoesNotFitIsRefused) {
  for (const std::string& name : kLinkMethods.names()) {
    EXPECT_EQ(to_string(kLinkMethods.named(name)), name);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "argmax, threshold, mutual",
                         [] { kLinkMethods.named("best"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "1 rows", [] {
    hard_links({Matrix{{1.0}}, {}});
  }));
}

}  // namespace
}  // namespace fovea
