#include "fovea/explain/alignment/aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/explain/alignment/pair_maps.h"
#include "support/errors.h"
#include "unit/explain/cross_records.h"

namespace fovea {
namespace {

using support::aimed_layer;
using support::random_cross_layers;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TargetReading kInput = TargetReading::kInput;
constexpr TargetReading kOutput = TargetReading::kOutput;

// Rows: start, y0 ... y4; columns: five words and the end of sentence. The alignment is y_t - x_t
// but for the first two, which change places. Head 1 of layer 0 sees it at the token it reads, head
// 0 of layer 1 at the token that is written but for a mistake; head 1 of layer 1 is the plain
// diagonal, and head 0 of layer 0 looks at the end of sentence.
PairMaps aimed_pair() {
  return {.layers = {aimed_layer(0, {{5, 5, 5, 5, 5, 5}, {5, 1, 0, 2, 3, 4}}, 6),
                     aimed_layer(1, {{1, 0, 2, 3, 3, 5}, {5, 0, 1, 2, 3, 4}}, 6)},
          .source = PieceWords::from({0, 1, 2, 3, 4, -1}),
          .target = PieceWords::from({0, 1, 2, 3, 4}),
          .anchors = {{0, 1}, {1, 0}, {2, 2}, {3, 3}, {4, 4}}};
}

std::vector<HeadStatistics> statistics_of(const PairMaps& pair,
                                          const GoldAlignment* gold = nullptr) {
  HeadRanking ranking;
  ranking.add(pair, gold);
  return ranking.statistics();
}

TEST(ChooseMap, TakesTheHeadWhoseAttentionLiesOnTheAnchors) {
  const MapChoice choice = choose_map(statistics_of(aimed_pair()));
  EXPECT_EQ(to_string(choice), "layer 0, head 1, read by decoder input");
  EXPECT_TRUE(choice.confident);
  EXPECT_THAT(choice.why, HasSubstr("from 8 maps on this sentence"));
  EXPECT_THAT(choice.why, HasSubstr("100 % of its attention on the 5 anchor pairs"));
  EXPECT_THAT(choice.why, HasSubstr("agree 100 % read in either direction"));
  EXPECT_THAT(choice.why, Not(HasSubstr("low confidence")));
}

TEST(ChooseMap, FixedPartsLeaveTheRestToTheRule) {
  const auto statistics = statistics_of(aimed_pair());
  EXPECT_EQ(to_string(choose_map(statistics, {.layer = 1, .head = 0})),
            "layer 1, head 0, read by decoder output");
  EXPECT_EQ(to_string(choose_map(statistics, {.layer = 1, .reading = kInput})),
            "layer 1, head 1, read by decoder input");
  EXPECT_EQ(to_string(choose_map(statistics, {.head = 0})),
            "layer 1, head 0, read by decoder output");
  const MapChoice mean = choose_map(statistics, {.layer = 1, .mean = true});
  // Its heads put 5 halves of 5 on the anchors read by output, 4 read by input.
  EXPECT_EQ(to_string(mean), "mean of all heads of layer 1, read by decoder output");
  EXPECT_THAT(mean.why, HasSubstr("from the two readings"));
  EXPECT_THAT(to_string(choose_map(statistics, {.mean = true})),
              HasSubstr("mean of all heads, read by"));
}

TEST(ChooseMap, WhatTheUserFixedWhollyNeedsNoReason) {
  const auto statistics = statistics_of(aimed_pair());
  for (const AlignOptions& options : {AlignOptions{.layer = 0, .head = 0, .reading = kOutput},
                                      AlignOptions{.layer = 0, .mean = true, .reading = kOutput},
                                      AlignOptions{.mean = true, .reading = kOutput}}) {
    const MapChoice choice = choose_map(statistics, options);
    EXPECT_EQ(choice.why, "");
    EXPECT_TRUE(choice.confident);
    EXPECT_EQ(choice.layer, options.layer);
    EXPECT_EQ(choice.head, options.head);
    EXPECT_EQ(choice.reading, kOutput);
  }
}

TEST(ChooseMap, WithoutAnchorsGoesByAgreementAndSaysSo) {
  PairMaps pair = aimed_pair();
  pair.anchors.clear();
  const MapChoice choice = choose_map(statistics_of(pair));
  EXPECT_EQ(to_string(choice), "layer 0, head 1, read by decoder input");
  EXPECT_FALSE(choice.confident);
  EXPECT_THAT(choice.why, HasSubstr("no anchor pairs"));
  EXPECT_THAT(choice.why, HasSubstr("low confidence"));
}

// Statistics by hand: mass and agreement of heads 0, 1, ... of one layer.
std::vector<HeadStatistics> by_hand(const std::vector<std::pair<double, double>>& heads) {
  std::vector<HeadStatistics> statistics;
  for (const auto& [mass, two_way] : heads) {
    HeadStatistics& one = statistics.emplace_back();
    one.candidate = {0, static_cast<int64_t>(statistics.size()) - 1, kInput};
    one.sentences = 2;
    one.anchors = 9;
    one.anchor_mass = mass;
    one.anchor_hits = 1;
    one.two_way = two_way;
  }
  return statistics;
}

TEST(ChooseMap, TiesGoToTheLargerAgreementAndThenToTheFirst) {
  EXPECT_EQ(choose_map(by_hand({{0.8, 0.5}, {0.5, 0.8}, {0.4, 0.9}})).head, 1);
  EXPECT_EQ(choose_map(by_hand({{0.1, 0.1}, {0.5, 0.8}, {0.5, 0.8}})).head, 1);
  // Less apart than rounding: equal.
  EXPECT_EQ(choose_map(by_hand({{0.5, 0.8}, {0.5 + 1e-11, 0.8}})).head, 0);
  EXPECT_EQ(choose_map(by_hand({{0.5, 0.8}, {0.5 + 1e-7, 0.8}})).head, 1);
}

TEST(ChooseMap, MeansAreNoCandidatesUnlessAskedFor) {
  auto statistics = by_hand({{0.5, 0.5}, {0.4, 0.5}, {0.9, 0.9}});
  statistics[2].candidate = {0, {}, kInput};
  EXPECT_EQ(choose_map(statistics).head, 0);
}

TEST(ChooseMap, SaysWhenItHasTooLittleToGoBy) {
  const auto choice = [](int64_t anchors, double hits, double two_way) {
    auto statistics = by_hand({{0.5, two_way}, {0.1, 0.1}});
    statistics[0].anchors = anchors;
    statistics[0].anchor_hits = hits;
    return choose_map(statistics);
  };
  EXPECT_TRUE(choice(5, 0.5, 0.5).confident);
  EXPECT_FALSE(choice(4, 0.5, 0.5).confident);
  EXPECT_THAT(choice(4, 0.5, 0.5).why, HasSubstr("low confidence, since 4 anchor pairs are few"));
  EXPECT_THAT(choice(5, 0.4, 0.5).why, HasSubstr("low confidence, since only 40 %"));
  EXPECT_THAT(choice(5, 0.5, 0.49).why, HasSubstr("low confidence, since half of its links"));
}

TEST(ChooseMap, RefusesWhatIsNotThereAndNamesWhatIs) {
  const auto statistics = statistics_of(aimed_pair());
  const auto refuses = [&](std::string_view why, const AlignOptions& options) {
    return fails_with(ErrorKind::kInvalidArgument, why, [&] { choose_map(statistics, options); });
  };
  EXPECT_TRUE(refuses("in layer 2; there is layer 0 with heads 0 to 1, layer 1 with heads 0 to 1",
                      {.layer = 2}));
  EXPECT_TRUE(refuses("head 7 of any layer", {.head = 7}));
  EXPECT_TRUE(refuses("the mean of layer 9", {.layer = 9, .mean = true}));
  EXPECT_TRUE(refuses("both head 0 and the mean", {.head = 0, .mean = true}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no head", [] { choose_map({}); }));
}

TEST(BestMapByGold, TakesTheLowestErrorRateOfWhatIsLeft) {
  const Alignment diagonal{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}};
  const GoldAlignment gold{diagonal, diagonal};
  const auto statistics = statistics_of(aimed_pair(), &gold);
  const MapChoice best = best_map_by_gold(statistics);
  EXPECT_EQ(to_string(best), "layer 1, head 1, read by decoder input");
  EXPECT_THAT(best.why, HasSubstr("on this sentence: 0.0 %"));
  EXPECT_EQ(to_string(best_map_by_gold(statistics, {.layer = 0})),
            "layer 0, head 1, read by decoder input");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "without gold",
                         [] { best_map_by_gold(statistics_of(aimed_pair())); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no head", [] { best_map_by_gold({}); }));
}

PairMaps random_pair() {
  return {.layers = random_cross_layers(4, 2, {3, 3, 5, 6, 8, 8}, 10),
          .source = PieceWords::from({0, 0, 1, 2, 3, -1}),
          .target = PieceWords::from({0, 1, 1, 2})};
}

// One row of what the map should be, before it is read.
std::vector<double> share_of_norms(const PairMaps& pair, const MapChoice& choice, int64_t row) {
  std::vector<double> norms(6);
  double sum = 0;
  for (const CrossLayer& layer : pair.layers) {
    if (choice.layer && layer.layer() != *choice.layer) continue;
    const Matrix all = choice.head ? layer.head_norms(*choice.head) : layer.layer_norms();
    for (int64_t j = 0; j < 6; ++j) {
      norms[size_t(j)] += all(row, j);
      sum += all(row, j);
    }
  }
  for (double& norm : norms) norm /= sum;
  return norms;
}

TEST(MapWeights, OfNormsAreSharesOfTheirRow) {
  const PairMaps pair = random_pair();
  for (const MapChoice& choice : {MapChoice{1, 2, kInput}, MapChoice{1, {}, kOutput},
                                  MapChoice{{}, {}, kInput}, MapChoice{{}, {}, kOutput}}) {
    const Matrix shares = map_weights(pair, choice, true);
    ASSERT_EQ(shares.rows(), 4);
    for (int64_t i = 0; i < 4; ++i) {
      const auto expected = share_of_norms(pair, choice, i + (choice.reading == kInput ? 1 : 0));
      for (int64_t j = 0; j < 6; ++j) EXPECT_NEAR(shares(i, j), expected[size_t(j)], 1e-12);
    }
  }
}

TEST(AlignPair, GivesTheWeightsBetweenWordsAndTheirLinks) {
  const PairMaps pair = aimed_pair();
  const PairAlignment aligned = align_pair(pair, {0, 1, kInput});
  EXPECT_EQ(aligned.links, (Alignment{{0, 1}, {1, 0}, {2, 2}, {3, 3}, {4, 4}}));
  EXPECT_NEAR(aligned.words.weights(0, 1), 1, 1e-4);  // aimed heads leave some 1e-6 elsewhere
  const PairMaps pieces = random_pair();
  const AlignOptions options{.convention = WordConvention::kUnion,
                             .links = {.method = LinkMethod::kThreshold, .threshold = 0.1}};
  const MapChoice choice{1, 2, kOutput};
  EXPECT_EQ(align_pair(pieces, choice, options).links,
            word_links(map_weights(pieces, choice), pieces.source, pieces.target,
                       options.convention, options.links));
}

Axis axis(std::string name, const std::vector<int64_t>& words) {
  Axis result{.name = std::move(name)};
  for (const int64_t word : words) {
    result.positions.push_back({.special = word < 0, .word = word});
  }
  return result;
}

TEST(PairMaps, AreMadeOfARunWhoseTargetBeginsAfterItsPrefix) {
  fovea::Run run;
  run.records.push_back(std::make_shared<const AttentionRecord>(
      support::random_cross_record(1, 0, {2, 2, 4, 3, 4, 4}, 8)));
  run.axes = {axis("source", {0, 1, -1}), axis("target", {-1, -1, 0, 0})};
  const PairMaps pair = pair_maps(run, 2, {{1, 1}});
  EXPECT_EQ(pair.layers.size(), 1u);
  EXPECT_EQ(pair.source.word, (std::vector<int64_t>{0, 1, -1}));
  EXPECT_EQ(pair.target.word, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(pair.rows().prefix, 2);
  EXPECT_EQ(pair.anchors, (Alignment{{1, 1}}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "4 positions but begins after 5",
                         [&] { pair_maps(run, 5, {}); }));
  run.axes.pop_back();
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no axis 'target'", [&] { pair_maps(run, 1, {}); }));
}

}  // namespace
}  // namespace fovea
