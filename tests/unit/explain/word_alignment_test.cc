#include "fovea/explain/alignment/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WordAlignment, TheTwoConventionsDifferWhereAWordIsSplit) {
  // Two source words, the second of two pieces; one target word of two pieces.
  const PieceWords source = PieceWords::from({0, 1, 1, -1});
  const PieceWords target = PieceWords::from({0, 0});
  const Matrix weights{{0.4, 0.3, 0.3, 0.0}, {0.1, 0.2, 0.5, 0.2}};
  EXPECT_THAT(word_links(weights, source, target, WordConvention::kUnion),
              ElementsAre(Link{0, 0}, Link{1, 0}));
  EXPECT_THAT(word_links(weights, source, target, WordConvention::kMerge), ElementsAre(Link{1, 0}));
}

TEST(WordAlignment, MergeSumsSourcePiecesAndAveragesTargetPieces) {
  const PieceWords source = PieceWords::from({0, 1, 1, -1});
  const PieceWords target = PieceWords::from({0, 0, -1});
  const Matrix weights{{0.4, 0.25, 0.25, 0.1}, {0.2, 0.25, 0.25, 0.3}, {1, 0, 0, 0}};
  const SoftAlignment merged = word_weights(weights, source, target);
  ASSERT_EQ(merged.weights.rows(), 1);
  EXPECT_NEAR(merged.weights(0, 0), 0.3, 1e-15);
  EXPECT_NEAR(merged.weights(0, 1), 0.5, 1e-15);
  EXPECT_NEAR(merged.elsewhere[0], 0.2, 1e-15);
}

TEST(WordAlignment, AWordIsDroppedIfTheEndOfSentenceWins) {
  const PieceWords source = PieceWords::from({0, 1, -1});
  const PieceWords target = PieceWords::from({0});
  const Matrix weights{{0.3, 0.2, 0.5}};
  for (const WordConvention convention : {WordConvention::kUnion, WordConvention::kMerge}) {
    EXPECT_THAT(word_links(weights, source, target, convention), IsEmpty());
    EXPECT_THAT(word_links(weights, source, target, convention, {.specials_compete = false}),
                ElementsAre(Link{0, 0}));
  }
}

TEST(WordAlignment, TwoSpecialPositionsCompeteEachForItself) {
  const PieceWords source = PieceWords::from({-1, 0, -1});
  const PieceWords target = PieceWords::from({0});
  EXPECT_THAT(word_links(Matrix{{0.3, 0.4, 0.3}}, source, target, WordConvention::kMerge),
              ElementsAre(Link{0, 0}));
}

// Both conventions once more, with maps of words instead of matrices.
Alignment plain_union(const Matrix& weights, const PieceWords& source, const PieceWords& target) {
  std::vector<Link> links;
  for (size_t i = 0; i < target.word.size(); ++i) {
    size_t best = 0;
    for (size_t j = 0; j < source.word.size(); ++j) {
      if (weights(int64_t(i), int64_t(j)) > weights(int64_t(i), int64_t(best))) best = j;
    }
    if (target.word[i] >= 0 && source.word[best] >= 0) {
      links.push_back({source.word[best], target.word[i]});
    }
  }
  return sorted_links(links);
}

Alignment plain_merge(const Matrix& weights, const PieceWords& source, const PieceWords& target) {
  std::vector<Link> links;
  for (int64_t word = 0; word < target.words; ++word) {
    std::map<int64_t, double> mass;  // by source word; special position j as -1 - j
    double pieces = 0;
    for (size_t i = 0; i < target.word.size(); ++i) pieces += target.word[i] == word ? 1 : 0;
    for (size_t i = 0; i < target.word.size(); ++i) {
      if (target.word[i] != word) continue;
      for (size_t j = 0; j < source.word.size(); ++j) {
        const int64_t key = source.word[j] >= 0 ? source.word[j] : -1 - int64_t(j);
        mass[key] += weights(int64_t(i), int64_t(j)) / pieces;
      }
    }
    if (pieces == 0) continue;
    const auto best = std::ranges::max_element(mass, {}, [](const auto& m) { return m.second; });
    if (best->first >= 0) links.push_back({best->first, word});
  }
  return sorted_links(links);
}

TEST(WordAlignment, BothConventionsEqualPlainLoops) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform;
  const auto pieces = [&](size_t count) {
    std::vector<int64_t> word;
    int64_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      if (random() % 6 == 0) {
        word.push_back(-1);
      } else {
        word.push_back(next);
        if (random() % 2 == 0) next += 1 + (random() % 5 == 0 ? 1 : 0);  // some words are empty
      }
    }
    return PieceWords::from(word);
  };
  for (int round = 0; round < 500; ++round) {
    const PieceWords source = pieces(1 + random() % 9), target = pieces(1 + random() % 9);
    Matrix weights(target.pieces(), source.pieces());
    for (int64_t i = 0; i < weights.rows(); ++i) {
      for (double& weight : weights.row(i)) weight = uniform(random);
    }
    ASSERT_EQ(word_links(weights, source, target, WordConvention::kUnion),
              plain_union(weights, source, target));
    ASSERT_EQ(word_links(weights, source, target, WordConvention::kMerge),
              plain_merge(weights, source, target));
  }
}

TEST(WordAlignment, PieceWeightsLeaveSpecialPositionsOut) {
  const SoftAlignment pieces =
      piece_weights(Matrix{{0.1, 0.2, 0.7}, {0.3, 0.3, 0.4}}, PieceWords::from({-1, 0, 1}),
                    PieceWords::from({0, -1}));
  ASSERT_EQ(to_string(pieces.weights), "[1 x 2]");
  EXPECT_THAT(pieces.weights.row(0), ElementsAre(0.2, 0.7));
  EXPECT_THAT(pieces.elsewhere, ElementsAre(DoubleEq(0.1)));
}

TEST(WordAlignment, WordsOfAnAxisLeaveSpecialPositionsOut) {
  Axis axis;
  axis.positions = {{.text = "Hel", .word = 0},
                    {.text = "lo", .word = 0},
                    {.text = "x", .word = -1},
                    {.text = "</s>", .special = true, .word = 1}};
  const PieceWords pieces = PieceWords::of(axis);
  EXPECT_THAT(pieces.word, ElementsAre(0, 0, -1, -1));
  EXPECT_EQ(pieces.words, 1);
}

TEST(WordAlignment, WhatDoesNotFitIsRefused) {
  const PieceWords two = PieceWords::from({0, 1});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 target pieces",
                         [&] { word_links(Matrix(3, 2), two, two, WordConvention::kMerge); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 source pieces",
                         [&] { word_links(Matrix(2, 3), two, two, WordConvention::kUnion); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "word -2", [] {
    PieceWords::from({0, -2});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "word 1000000000000",
                         [] { PieceWords::from({1'000'000'000'000}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "union, merge",
                         [] { kWordConventions.named("sum"); }));
  for (const std::string& name : kWordConventions.names()) {
    EXPECT_EQ(to_string(kWordConventions.named(name)), name);
  }
}

}  // namespace
}  // namespace fovea
