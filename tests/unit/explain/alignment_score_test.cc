#include "fovea/explain/alignment/alignment_score.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

std::filesystem::path data(const std::string& name) {
  return test_data("alignment") / name;
}

std::string percent(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

TEST(AlignmentScore, FollowsTheFormulaOnAHandMadeCase) {
  AlignmentScore score;
  score.add({.sure = {{0, 0}, {1, 1}}, .possible = {{0, 0}, {1, 1}, {2, 1}}},
            {{0, 0}, {2, 1}, {5, 5}});
  EXPECT_DOUBLE_EQ(score.precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(score.recall(), 1.0 / 2);
  EXPECT_DOUBLE_EQ(score.aer(), 1 - (1.0 + 2.0) / (3 + 2));
}

TEST(AlignmentScore, SumsLinksOverSentencesInsteadOfAveragingThem) {
  AlignmentScore score;
  score.add({{{0, 0}}, {{0, 0}}}, {{0, 0}});                            // perfect, one link
  score.add({{{0, 0}, {1, 1}, {2, 2}}, {{0, 0}, {1, 1}, {2, 2}}}, {});  // all missed
  EXPECT_DOUBLE_EQ(score.recall(), 1.0 / 4);
  EXPECT_DOUBLE_EQ(score.precision(), 1);
  EXPECT_DOUBLE_EQ(score.aer(), 1 - 2.0 / 5);
}

TEST(AlignmentScore, WithoutAnyLinkNothingIsWrong) {
  AlignmentScore score;
  score.add({}, {});
  EXPECT_EQ(score.aer(), 0);
  EXPECT_EQ(score.precision(), 1);
  EXPECT_EQ(score.recall(), 1);
}

TEST(AlignmentScore, EqualsCountsOverSets) {
  std::mt19937 random(4);
  const auto some = [&] {
    std::vector<Link> links;
    for (int i = 0; i < 12; ++i) {
      links.push_back({int64_t(random() % 5), int64_t(random() % 5)});
    }
    return sorted_links(links);
  };
  AlignmentScore score;
  double links = 0, sure = 0, in_sure = 0, in_possible = 0;
  for (int sentence = 0; sentence < 50; ++sentence) {
    GoldAlignment gold{some(), some()};
    gold.possible.insert(gold.possible.end(), gold.sure.begin(), gold.sure.end());
    gold.possible = sorted_links(gold.possible);
    const Alignment found = some();
    score.add(gold, found);
    const std::set<Link> s(gold.sure.begin(), gold.sure.end());
    const std::set<Link> p(gold.possible.begin(), gold.possible.end());
    for (const Link& link : found) {
      in_sure += double(s.count(link));
      in_possible += double(p.count(link));
    }
    links += double(found.size());
    sure += double(s.size());
  }
  EXPECT_DOUBLE_EQ(score.aer(), 1 - (in_sure + in_possible) / (links + sure));
  EXPECT_DOUBLE_EQ(score.precision(), in_possible / links);
  EXPECT_DOUBLE_EQ(score.recall(), in_sure / sure);
}

// The table of lilt/alignment-scripts and the README of neulab/awesome-align. What an aligner of
// the opposite direction wrote is target-source.
TEST(AlignmentScore, ReproducesThePublishedErrorRates) {
  const auto gold = read_gold_alignments(data("enfr.gold"));
  ASSERT_EQ(gold.size(), 447u);
  const auto score = [&](const std::string& name, bool reversed) {
    return score_alignments(gold, read_alignments(data(name), {.reversed = reversed}));
  };
  EXPECT_EQ(percent(score("enfr.giza.talp", false).aer()), "8.0");
  EXPECT_EQ(percent(score("enfr.giza.reverse.talp", true).aer()), "9.8");
  EXPECT_EQ(percent(score("enfr.giza.grow-diagonal.talp", false).aer()), "5.9");
  EXPECT_EQ(percent(score("enfr.giza.grow-diagonal.talp", false).precision()), "97.5");
  EXPECT_EQ(percent(score("enfr.giza.grow-diagonal.talp", false).recall()), "89.7");
  EXPECT_EQ(percent(score("enfr.fastalign.talp", false).aer()), "16.4");
  EXPECT_EQ(percent(score("enfr.fastalign.reverse.talp", true).aer()), "15.9");
  EXPECT_EQ(percent(score("enfr.fastalign.grow-diagonal.talp", false).aer()), "10.5");
  EXPECT_EQ(percent(score("enfr.awesome-align.out", false).aer()), "4.1");
}

TEST(AlignmentScore, RefusesFilesOfDifferentLengthWithBothNumbers) {
  const std::vector<GoldAlignment> gold(3);
  const std::vector<Alignment> found(2);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "3 sentences but the hypothesis has 2",
                         [&] { score_alignments(gold, found); }));
}

}  // namespace
}  // namespace fovea
