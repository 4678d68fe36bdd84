#include "fovea/explain/alignment/head_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/explain/cross_records.h"

namespace fovea {
namespace {

using support::aimed_layer;
using support::random_cross_layers;

// One sentence pair of a ranking: 2 layers of 3 heads, 5 decoder rows, 4 target tokens of which the
// last is the end of sentence, 6 source positions of which the last is.
struct Sentence {
  PairMaps pair;
  GoldAlignment gold{{{0, 0}}, {{0, 0}, {1, 1}}};

  explicit Sentence(uint32_t seed)
      : pair{.layers = random_cross_layers(seed, 2, {3, 3, 5, 6, 8, 8}, 10),
             .source = PieceWords::from({0, 0, 1, 2, 3, -1}),
             .target = PieceWords::from({0, 1, 1, -1}),
             .anchors = {{0, 1}, {2, 0}, {4, 2}}} {}
  // The weights of a candidate, row by row of the target tokens.
  Matrix weights(const HeadCandidate& c) const {
    if (!c.layer) return read_rows(mean_weights(pair.layers), c.reading, {4, 1});
    const CrossLayer& layer = pair.layers[size_t(*c.layer)];
    return read_rows(c.head ? layer.head_weights(*c.head) : layer.mean_weights(), c.reading,
                     {4, 1});
  }
  Alignment links(const HeadCandidate& c) const {
    return word_links(weights(c), pair.source, pair.target, WordConvention::kMerge);
  }
};

HeadRanking ranked(const std::vector<Sentence>& sentences, bool with_gold) {
  HeadRanking ranking;
  for (const Sentence& s : sentences) ranking.add(s.pair, with_gold ? &s.gold : nullptr);
  return ranking;
}

// Layers that look where they are told, over words without pieces and the end of sentence.
PairMaps ranked_pair(std::vector<CrossLayer> layers, std::vector<int64_t> source,
                     std::vector<int64_t> target) {
  return {.layers = std::move(layers),
          .source = PieceWords::from(std::move(source)),
          .target = PieceWords::from(std::move(target))};
}

std::vector<Sentence> some_sentences() {
  std::vector<Sentence> sentences;
  for (uint32_t seed = 1; seed <= 3; ++seed) sentences.emplace_back(seed);
  return sentences;
}

TEST(CandidateWeights, AreTheRowsOfTheHeadAsItIsRead) {
  const Sentence s(1);
  const Matrix all = s.pair.layers[1].head_weights(2);
  const Matrix input = candidate_weights(s.pair, {1, 2, TargetReading::kInput});
  const Matrix output = candidate_weights(s.pair, {1, 2, TargetReading::kOutput});
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::ranges::equal(input.row(i), all.row(i + 1)));
    EXPECT_TRUE(std::ranges::equal(output.row(i), all.row(i)));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no layer 2 among the 2", [&] {
    candidate_weights(s.pair, {2, 0, TargetReading::kInput});
  }));
}

TEST(CandidateWeights, WithoutHeadOrLayerAreMeans) {
  const Sentence s(1);
  const Matrix layer = candidate_weights(s.pair, {1, {}, TargetReading::kInput});
  const Matrix all = candidate_weights(s.pair, {{}, {}, TargetReading::kInput});
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      double sum[2] = {};
      for (int64_t head = 0; head < 6; ++head) {
        sum[head / 3] += s.pair.layers[size_t(head / 3)].head_weights(head % 3)(i + 1, j);
      }
      EXPECT_NEAR(layer(i, j), sum[1] / 3, 1e-12);  // the same doubles in another order
      EXPECT_NEAR(all(i, j), (sum[0] + sum[1]) / 6, 1e-12);
    }
  }
}

TEST(HeadRanking, HasEveryHeadAndMeanInBothReadings) {
  const auto statistics = ranked(some_sentences(), false).statistics();
  std::vector<std::string> names;
  for (const HeadStatistics& one : statistics) names.push_back(to_string(one.candidate));
  ASSERT_EQ(names.size(), 18u);
  EXPECT_EQ(names[0], "layer 0, head 0, read by decoder input");
  EXPECT_EQ(names[5], "layer 1, head 2, read by decoder input");
  EXPECT_EQ(names[6], "mean of all heads of layer 0, read by decoder input");
  EXPECT_EQ(names[8], "mean of all heads, read by decoder input");
  EXPECT_EQ(names[9], "layer 0, head 0, read by decoder output");
  EXPECT_EQ(names[17], "mean of all heads, read by decoder output");
  EXPECT_EQ(statistics[0].sentences, 3);
  EXPECT_EQ(statistics[0].target_pieces, 9);  // the end of sentence left out
  EXPECT_FALSE(statistics[0].gold.has_value());
}

// By the formulas of the header, special columns and rows passed over in each loop.
TEST(HeadRanking, AnchorStatisticsEqualPlainLoops) {
  const auto sentences = some_sentences();
  for (const HeadStatistics& one : ranked(sentences, false).statistics()) {
    SCOPED_TRACE(to_string(one.candidate));
    double mass = 0, hits = 0, mutual = 0, links = 0;
    for (const Sentence& s : sentences) {
      const Matrix w = s.weights(one.candidate);
      std::vector<int64_t> a(3), b(5);
      for (int64_t j = 0; j < 3; ++j) {
        for (int64_t i = 1; i < 6; ++i)
          a[size_t(j)] = w(j, i) > w(j, a[size_t(j)]) ? i : a[size_t(j)];
      }
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 1; j < 3; ++j)
          b[size_t(i)] = w(j, i) > w(b[size_t(i)], i) ? j : b[size_t(i)];
      }
      for (const Link& anchor : s.pair.anchors) {
        mass += w(anchor.target, anchor.source);
        hits += a[size_t(anchor.target)] == anchor.source ? 1 : 0;
      }
      for (int64_t j = 0; j < 3; ++j) {
        if (a[size_t(j)] == 5) continue;
        links += 1;
        mutual += b[size_t(a[size_t(j)])] == j ? 1 : 0;
      }
    }
    EXPECT_EQ(one.anchors, 9);
    EXPECT_NEAR(one.anchor_mass, mass / 9, 1e-12);
    EXPECT_DOUBLE_EQ(one.anchor_hits, hits / 9);
    EXPECT_DOUBLE_EQ(one.two_way, 2 * mutual / (links + 3 * 5));
    EXPECT_DOUBLE_EQ(one.score(), one.anchor_mass * one.two_way);
  }
}

TEST(HeadRanking, WithoutAnchorsTheirMassIsNothing) {
  HeadRanking ranking;
  ranking.add(ranked_pair({aimed_layer(0, {{2, 0, 1}}, 3)}, {0, 1, -1}, {0, 1}));
  const HeadStatistics one = ranking.statistics()[0];
  EXPECT_EQ(one.anchors, 0);
  EXPECT_EQ(one.anchor_mass, 0);
  EXPECT_EQ(one.anchor_hits, 0);
  EXPECT_EQ(one.two_way, 1);
}

// Three word pieces of each sentence count; sums are of the same doubles in another order.
TEST(HeadRanking, RowStatisticsEqualPlainLoops) {
  const auto sentences = some_sentences();
  for (const HeadStatistics& one : ranked(sentences, false).statistics()) {
    SCOPED_TRACE(to_string(one.candidate));
    double entropy = 0, confidence = 0, special = 0, distance = 0;
    for (const Sentence& s : sentences) {
      const Matrix weights = s.weights(one.candidate);
      for (int64_t i = 0; i < 3; ++i) {
        double mass = 0, row_distance = 0, largest = 0;
        for (int64_t j = 0; j < 6; ++j) {
          entropy -= weights(i, j) * std::log(weights(i, j)) / std::log(6.0);
          largest = std::max(largest, weights(i, j));
          if (j == 5) continue;
          mass += weights(i, j);
          row_distance += weights(i, j) * std::abs((double(i) + 0.5) / 3 - (double(j) + 0.5) / 5);
        }
        confidence += largest;
        special += weights(i, 5);
        distance += row_distance / mass;
      }
    }
    EXPECT_NEAR(one.entropy, entropy / 9, 1e-12);
    EXPECT_NEAR(one.confidence, confidence / 9, 1e-12);
    EXPECT_NEAR(one.special_mass, special / 9, 1e-12);
    EXPECT_NEAR(one.diagonality, 1 - distance / 9, 1e-12);
  }
}

TEST(HeadRanking, NormsAreMeansOverTheCellsOfWords) {
  const auto sentences = some_sentences();
  for (const HeadStatistics& one : ranked(sentences, false).statistics()) {
    const HeadCandidate& c = one.candidate;
    EXPECT_EQ(one.head_norm.has_value(), c.head.has_value());
    EXPECT_EQ(one.layer_norm.has_value(), c.layer.has_value());
    double head_norm = 0, layer_norm = 0;
    for (const Sentence& s : sentences) {
      const int64_t first = c.reading == TargetReading::kInput ? 1 : 0;
      for (int64_t cell = 0; cell < 3 * 6 && c.layer; ++cell) {
        const CrossLayer& layer = s.pair.layers[size_t(*c.layer)];
        const int64_t i = first + cell / 6, j = cell % 6;
        if (c.head) head_norm += layer.head_norms(*c.head)(i, j) / (3 * 3 * 6);
        layer_norm += layer.layer_norms()(i, j) / (3 * 3 * 6);
      }
    }
    EXPECT_NEAR(one.head_norm.value_or(0), head_norm, 1e-12);
    EXPECT_NEAR(one.layer_norm.value_or(0), layer_norm, 1e-12);
  }
}

// Means are no voters: only heads are agreed with.
TEST(HeadRanking, AgreementAndCoverageEqualPlainLoops) {
  const auto sentences = some_sentences();
  const auto statistics = ranked(sentences, true).statistics();
  for (const HeadStatistics& one : statistics) {
    double shared = 0, total = 0, sources = 0, targets = 0;
    AlignmentScore gold;
    for (const Sentence& s : sentences) {
      const Alignment mine = s.links(one.candidate);
      gold.add(s.gold, mine);
      for (int64_t word = 0; word < 4; ++word) {
        sources += std::ranges::any_of(mine, [&](Link l) { return l.source == word; }) ? 1 : 0;
        targets += std::ranges::any_of(mine, [&](Link l) { return l.target == word; }) ? 1 : 0;
      }
      for (const HeadStatistics& other : statistics) {
        if (other.candidate == one.candidate || !other.candidate.head) continue;
        const Alignment theirs = s.links(other.candidate);
        for (const Link& link : mine) shared += double(std::ranges::count(theirs, link));
        total += double(mine.size() + theirs.size());
      }
    }
    EXPECT_DOUBLE_EQ(one.agreement, 2 * shared / total);
    EXPECT_DOUBLE_EQ(one.source_coverage, sources / (3 * 4));
    EXPECT_DOUBLE_EQ(one.target_coverage, targets / (3 * 2));
    EXPECT_EQ(one.gold, gold);
  }
}

TEST(HeadRanking, KnowsADiagonalFromAnEvenHead) {
  // Rows: start, y0, y1, y2. The first head reads each token's own place, the second the end.
  HeadRanking ranking;
  ranking.add(
      ranked_pair({aimed_layer(0, {{3, 0, 1, 2}, {3, 3, 3, 3}}, 4)}, {0, 1, 2, -1}, {0, 1, 2}));
  const auto statistics = ranking.statistics();
  EXPECT_NEAR(statistics[0].diagonality, 1, 1e-4);
  EXPECT_NEAR(statistics[0].confidence, 1, 1e-4);
  EXPECT_NEAR(statistics[0].entropy, 0, 1e-4);
  EXPECT_EQ(statistics[0].source_coverage, 1);
  EXPECT_EQ(statistics[0].two_way, 1);
  EXPECT_NEAR(statistics[1].special_mass, 1, 1e-4);
  EXPECT_EQ(statistics[1].target_coverage, 0);
  EXPECT_EQ(statistics[1].agreement, 0);
  EXPECT_EQ(statistics[1].two_way, 0);
}

TEST(HeadRanking, WithoutBlocksThereAreNoNorms) {
  HeadRanking ranking;
  ranking.add(ranked_pair({aimed_layer(0, {{0, 0}}, 2)}, {0, -1}, {0}));
  EXPECT_FALSE(ranking.statistics()[0].head_norm.has_value());
  EXPECT_FALSE(ranking.statistics()[0].layer_norm.has_value());
}

TEST(HeadRanking, ASentenceOfSpecialPositionsOnlyLeavesZeros) {
  HeadRanking ranking;
  ranking.add(ranked_pair({aimed_layer(0, {{0, 0}}, 1)}, {-1}, {-1}));
  const HeadStatistics one = ranking.statistics()[0];
  EXPECT_EQ(one.target_pieces, 0);
  EXPECT_EQ(one.entropy, 0);
  EXPECT_EQ(one.diagonality, 0);
  EXPECT_EQ(one.agreement, 0);
  EXPECT_EQ(one.source_coverage, 0);
  EXPECT_EQ(one.two_way, 0);
}

TEST(HeadRanking, RefusesWhatDoesNotFitAndStaysAsItWas) {
  const auto sentences = some_sentences();
  HeadRanking ranking;
  const auto refuses = [&](std::string_view why, const PairMaps& pair,
                           const GoldAlignment* gold = nullptr) {
    return fails_with(ErrorKind::kInvalidArgument, why, [&] { ranking.add(pair, gold); });
  };
  PairMaps longer = sentences[0].pair;
  longer.target = PieceWords::from({0, 1, 2, 3, 4});
  EXPECT_TRUE(refuses("no head", ranked_pair({}, {0}, {0})));
  EXPECT_TRUE(refuses("not all among 5 rows", longer));
  for (const Link anchor : {Link{6, 0}, Link{0, 4}, Link{-1, 0}, Link{0, -1}}) {
    PairMaps wrong = sentences[0].pair;
    wrong.anchors = {anchor};
    EXPECT_TRUE(refuses("there are 6 and 4 pieces", wrong));
  }
  for (const Sentence& s : sentences) ranking.add(s.pair);
  EXPECT_TRUE(
      refuses("one model at a time", ranked_pair({aimed_layer(0, {{0, 0}}, 2)}, {0, -1}, {0})));
  EXPECT_TRUE(refuses("always or never", sentences[0].pair, &sentences[0].gold));
  const auto expected = ranked(sentences, false).statistics();
  const auto found = ranking.statistics();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].entropy, expected[i].entropy);
    EXPECT_EQ(found[i].agreement, expected[i].agreement);
    EXPECT_EQ(found[i].anchor_mass, expected[i].anchor_mass);
  }
}

}  // namespace
}  // namespace fovea
