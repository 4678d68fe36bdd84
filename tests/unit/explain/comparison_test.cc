#include "fovea/explain/faithfulness/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fovea {
namespace {

constexpr auto kDeletion = static_cast<size_t>(GradeKind::kDeletion);
constexpr auto kInsertion = static_cast<size_t>(GradeKind::kInsertion);
constexpr auto kTau = static_cast<size_t>(GradeKind::kGradient);
constexpr auto kRandomWeights = static_cast<size_t>(GradeKind::kRandomWeights);

// A card whose every grade is `value` beside random numbers about `random`.
FaithfulnessCard card(double value, double random) {
  FaithfulnessCard result;
  for (CardLine& line : result.lines) {
    line.value = value;
    line.random = {random, random - 0.1, random + 0.1};
    line.verdict = Verdict::kNoBetter;
  }
  return result;
}

std::vector<FaithfulnessCard> many(double value, double random, double noise) {
  std::vector<FaithfulnessCard> cards;
  Draws draws(3);
  for (int i = 0; i < 40; ++i) {
    // Inputs differ far more than the method from random on each.
    const double input = draws.uniform();
    cards.push_back(card(input + value + noise * (draws.uniform() - 0.5), input + random));
  }
  return cards;
}

TEST(MeanCard, OfOneInputIsItsCard) {
  FaithfulnessCard one = card(0.3, 0.5);
  one.lines[kDeletion].verdict = Verdict::kBetter;
  const MeanCard mean = mean_card(std::vector{one}, 1000, 0);
  EXPECT_EQ(mean[kDeletion].value.mean, 0.3);
  EXPECT_EQ(mean[kDeletion].value.low, 0.3);
  EXPECT_EQ(mean[kDeletion].random.high, 0.6);
  EXPECT_EQ(mean[kDeletion].verdict, Verdict::kBetter);
  EXPECT_EQ(mean[kInsertion].verdict, Verdict::kNoBetter);
}

TEST(MeanCard, ComparesInputByInput) {
  const MeanCard lower = mean_card(many(-0.05, 0, 0.02), 1000, 0);
  // Far smaller than the differences between inputs, but the same on all of them.
  EXPECT_EQ(lower[kDeletion].verdict, Verdict::kBetter);
  EXPECT_EQ(lower[kInsertion].verdict, Verdict::kWorse);
  EXPECT_GT(lower[kDeletion].value.high, lower[kDeletion].random.low);
  const MeanCard higher = mean_card(many(0.05, 0, 0.02), 1000, 0);
  EXPECT_EQ(higher[kDeletion].verdict, Verdict::kWorse);
  EXPECT_EQ(higher[kInsertion].verdict, Verdict::kBetter);
  const MeanCard same = mean_card(many(0, 0, 0.5), 1000, 0);
  EXPECT_EQ(same[kDeletion].verdict, Verdict::kNoBetter);
  EXPECT_EQ(same[kInsertion].verdict, Verdict::kNoBetter);
  EXPECT_EQ(same[kDeletion].inputs, 40);
}

TEST(MeanCard, OfRandomWeightsIsMeasuredByWhatRandomMapsReach) {
  std::vector<FaithfulnessCard> cards(5, card(0.05, 0));
  EXPECT_EQ(mean_card(cards, 100, 0)[kRandomWeights].verdict, Verdict::kCollapses);
  cards.assign(5, card(-0.3, 0));
  EXPECT_EQ(mean_card(cards, 100, 0)[kRandomWeights].verdict, Verdict::kStays);
}

TEST(MeanCard, LeavesOutInputsWithoutTheNumberAndSaysWhyNoneHasIt) {
  std::vector<FaithfulnessCard> cards(3, card(0.3, 0.5));
  cards[1].lines[kTau].value = std::numeric_limits<double>::quiet_NaN();
  cards[1].lines[kTau].missing = "all scores are the same";
  const MeanCard mean = mean_card(cards, 100, 0);
  EXPECT_EQ(mean[kTau].inputs, 2);
  EXPECT_DOUBLE_EQ(mean[kTau].value.mean, 0.3);
  EXPECT_EQ(mean[kTau].missing, "");
  const MeanCard none = mean_card(std::vector{cards[1]}, 100, 0);
  EXPECT_EQ(none[kTau].inputs, 0);
  EXPECT_TRUE(std::isnan(none[kTau].value.mean));
  EXPECT_EQ(none[kTau].missing, "all scores are the same");
  EXPECT_EQ(none[kTau].verdict, Verdict::kNone);
}

TEST(MeanCard, IsTheSameForTheSameSeed) {
  const auto cards = many(0.1, 0, 0.3);
  EXPECT_EQ(mean_card(cards, 100, 1)[0].value.low, mean_card(cards, 100, 1)[0].value.low);
  EXPECT_NE(mean_card(cards, 100, 1)[0].value.low, mean_card(cards, 100, 2)[0].value.low);
}

}  // namespace
}  // namespace fovea
