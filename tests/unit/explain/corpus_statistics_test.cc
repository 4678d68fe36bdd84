#include "fovea/explain/corpus_statistics.h"

#include <gtest/gtest.h>

#include <random>

#include "fovea/base/error.h"
#include "support/records.h"

namespace fovea {
namespace {

// Weights and entropies are right to some 1e-6 each; sums over 40 rows stay far below this.
constexpr double kTolerance = 1e-4;

PositionKinds random_kinds(int64_t positions, uint32_t seed) {
  std::mt19937 random(seed);
  PositionKinds kinds;
  for (int64_t i = 0; i < positions; ++i) {
    kinds.ids.push_back(static_cast<int64_t>(random() % 6));
    kinds.special.push_back(i == 0 || i + 1 == positions);
    kinds.delimiter.push_back(kinds.special.back() != 0 || random() % 4 == 0);
  }
  return kinds;
}

// From the dense map, each number by its own loop.
HeadSums reference(const testing::AttentionCase& c, size_t head, const PositionKinds& kinds) {
  const testing::DenseAttention dense = testing::dense_attention(c);
  const int64_t n = c.shape.rows;
  const auto weight = [&](int64_t i, int64_t j) {
    return dense.weights[head][static_cast<size_t>(i * n + j)];
  };
  const auto id = [&](int64_t i) { return kinds.ids[static_cast<size_t>(i)]; };
  HeadSums sums;
  for (int64_t i = 0; i < n; ++i) {
    int64_t keys = 0, largest = -1;
    double entropy = 0, plain = 0;
    for (int64_t j = 0; j < n; ++j) {
      keys += c.rule.mask.allows(i, j);
      const double a = weight(i, j);
      if (a > 0) entropy -= a * std::log(a);
      if (largest < 0 || a > weight(i, largest)) largest = j;
      if (kinds.special[static_cast<size_t>(j)] == 0) plain = std::max(plain, a);
      sums.weight += a;
      sums.distance += a * std::abs(double(i - j));
      if (kinds.delimiter[static_cast<size_t>(j)] != 0) sums.delimiter += a;
      if (j == i - 1) sums.previous += a;
      if (j < i && id(j) == id(i)) sums.duplicate += a;
      if (j >= 1 && j - 1 < i && id(j - 1) == id(i)) sums.induction += a;
    }
    sums.rows += 1;
    sums.entropy += entropy;
    if (keys > 1) {
      sums.open_rows += 1;
      sums.evenness += entropy / std::log(double(keys));
    }
    if (kinds.special[static_cast<size_t>(i)] == 0) {
      sums.plain_rows += 1;
      sums.confidence += plain;
    }
    if (i > 0) {
      sums.later_rows += 1;
      sums.first += weight(i, 0);
    }
    if (std::abs(largest - i) <= kFarthestOffset) {
      sums.at_offset[static_cast<size_t>(largest - i + kFarthestOffset)] += 1;
    }
    bool repeat = false;
    for (int64_t j = 0; j < i && i + 1 < n; ++j) repeat = repeat || id(j) == id(i + 1);
    if (repeat && c.rule.mask.ahead == 0) {
      sums.repeats += 1;
      sums.retrieved += largest < i && id(largest) == id(i + 1) ? 1 : 0;
    }
  }
  return sums;
}

void expect_near(const HeadNumbers& a, const HeadNumbers& b) {
  for (const auto member : {&HeadNumbers::entropy, &HeadNumbers::evenness, &HeadNumbers::confidence,
                            &HeadNumbers::distance, &HeadNumbers::previous, &HeadNumbers::duplicate,
                            &HeadNumbers::induction, &HeadNumbers::delimiter, &HeadNumbers::sink,
                            &HeadNumbers::retrieval, &HeadNumbers::positional}) {
    EXPECT_NEAR(a.*member, b.*member, kTolerance);
  }
  EXPECT_EQ(a.offset, b.offset);
}

TEST(CorpusStatistics, AreThoseOfTheDenseMap) {
  for (const bool causal : {false, true}) {
    CorpusStatistics statistics;
    HeadSums wanted;
    for (uint32_t seed = 1; seed <= 5; ++seed) {
      // More rows than a block has.
      const testing::AttentionCase c =
          testing::plain_case(30 + 20 * static_cast<int64_t>(seed), 8, causal, seed);
      const PositionKinds kinds = random_kinds(c.shape.rows, seed);
      statistics.add(testing::record_of(c, {SiteKind::kSelf, 0}), kinds);
      statistics.end_input();
      wanted.add(reference(c, 0, kinds));
    }
    EXPECT_EQ(statistics.inputs(), 5);
    expect_near(numbers_of(statistics.sums(0, 0)), numbers_of(wanted));
    EXPECT_EQ(statistics.sums(0, 0).repeats > 0, causal);
  }
}

TEST(CorpusStatistics, CountOnlyKeysThatAreNoPadding) {
  testing::AttentionCase c = testing::plain_case(12, 4, false, 3);
  c.rule.mask.key_valid.assign(12, 1);
  c.rule.mask.key_valid[11] = c.rule.mask.key_valid[10] = 0;
  const PositionKinds kinds = random_kinds(12, 3);
  CorpusStatistics statistics;
  statistics.add(testing::record_of(c), kinds);
  expect_near(numbers_of(statistics.sums(0, 0)), numbers_of(reference(c, 0, kinds)));
}

TEST(CorpusStatistics, GoOnFromAFileToTheLastDigit) {
  CorpusStatistics whole, part;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const testing::AttentionCase c = testing::plain_case(20, 4, true, seed);
    const PositionKinds kinds = random_kinds(20, seed);
    whole.add(testing::record_of(c), kinds);
    whole.end_input();
    if (seed == 3) {
      part = CorpusStatistics::from_json(Json::parse(part.to_json().dump(), "part"), "part");
    }
    part.add(testing::record_of(c), kinds);
    part.end_input();
  }
  EXPECT_EQ(whole.to_json().dump(), part.to_json().dump());
}

TEST(CorpusStatistics, RefuseFilesAndKindsThatDoNotFit) {
  const testing::AttentionCase c = testing::plain_case(5, 4, true, 1);
  CorpusStatistics statistics;
  EXPECT_THROW(statistics.add(testing::record_of(c), random_kinds(4, 1)), Error);
  for (const char* text : {"{}", R"({"inputs": 1, "sums": [[[1, 2]]]})",
                           R"({"inputs": "x", "sums": []})", R"({"inputs": 1, "sums": 3})"}) {
    EXPECT_THROW(CorpusStatistics::from_json(Json::parse(text, "t"), "t"), Error) << text;
  }
}

TEST(HeadType, NamesWhatStandsOut) {
  EXPECT_EQ(head_type({.positional = 0.95, .offset = -1}), "previous token");
  EXPECT_EQ(head_type({.positional = 0.95, .offset = 2}), "positional +2");
  EXPECT_EQ(head_type({.induction = 0.5}), "induction");
  EXPECT_EQ(head_type({.sink = 0.6}), "sink");
  EXPECT_EQ(head_type({.delimiter = 0.6}), "delimiter");
  EXPECT_EQ(head_type({.evenness = 0.95}), "broad");
  EXPECT_EQ(head_type({}), "mixed");
}

}  // namespace
}  // namespace fovea
