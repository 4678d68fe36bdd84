#include "fovea/explain/corpus_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fovea/base/error.h"
#include "fovea/explain/pictures/attention_distance.h"
#include "support/records.h"

namespace fovea {
namespace {

// Weights and entropies are right to some 1e-6 each; sums over 40 rows stay far below this.
constexpr double kStatisticsTolerance = 1e-4;

PositionKinds random_kinds(int64_t positions, uint32_t seed) {
  std::mt19937 random(seed);
  PositionKinds kinds{.in_line = true};
  for (int64_t i = 0; i < positions; ++i) {
    kinds.ids.push_back(static_cast<int64_t>(random() % 6));
    kinds.special.push_back(i == 0 || i + 1 == positions);
    kinds.delimiter.push_back(kinds.special.back() != 0 || random() % 4 == 0);
  }
  return kinds;
}

// Adds all heads of a record whose rows and columns are one axis.
void add(CorpusStatistics& statistics, const AttentionRecord& record, const PositionKinds& kinds) {
  statistics.add(record.site, sums_of(record, kinds, kinds));
}

// From the dense map of a text, each number by its own loop. Padding is no row.
HeadSums reference(const support::AttentionCase& c, size_t head, const PositionKinds& kinds) {
  const support::DenseAttention dense = support::dense_attention(c);
  const int64_t n = c.shape.rows;
  const auto weight = [&](int64_t i, int64_t j) {
    return dense.weights[head][static_cast<size_t>(i * n + j)];
  };
  const auto id = [&](int64_t i) { return kinds.ids[static_cast<size_t>(i)]; };
  HeadSums sums;
  for (int64_t i = 0; i < n; ++i) {
    const auto& valid = c.rule.mask.key_valid;
    if (!valid.empty() && valid[static_cast<size_t>(i)] == 0) continue;
    int64_t keys = 0, largest = -1;
    double entropy = 0, plain = 0;
    for (int64_t j = 0; j < n; ++j) {
      keys += c.rule.mask.allows(i, j);
      const double a = weight(i, j);
      if (a > 0) entropy -= a * std::log(a);
      if (largest < 0 || a > weight(i, largest)) largest = j;
      if (kinds.special[static_cast<size_t>(j)] == 0) plain = std::max(plain, a);
      sums.pattern_total += a;
      sums.delimiter_total += a;
      sums.distance += a * std::abs(double(i - j));
      if (kinds.delimiter[static_cast<size_t>(j)] != 0) sums.delimiter += a;
      if (j == i - 1) sums.previous += a;
      if (j < i && id(j) == id(i)) sums.duplicate += a;
      if (j >= 1 && j - 1 < i && id(j - 1) == id(i)) sums.induction += a;
    }
    sums.rows += 1;
    sums.distance_rows += 1;
    sums.placed_rows += 1;
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
    EXPECT_EQ(std::isnan(a.*member), std::isnan(b.*member));
    if (!std::isnan(b.*member)) {
      EXPECT_NEAR(a.*member, b.*member, kStatisticsTolerance);
    }
  }
  EXPECT_EQ(a.offset, b.offset);
}

TEST(CorpusStatistics, AreThoseOfTheDenseMap) {
  for (const bool causal : {false, true}) {
    CorpusStatistics statistics;
    HeadSums wanted;
    for (uint32_t seed = 1; seed <= 5; ++seed) {
      // More rows than a block has.
      const support::AttentionCase c =
          support::plain_case(30 + 20 * static_cast<int64_t>(seed), 8, causal, seed);
      const PositionKinds kinds = random_kinds(c.shape.rows, seed);
      add(statistics, support::record_of(c, {SiteKind::kSelf, 0}), kinds);
      statistics.end_input();
      wanted.add(reference(c, 0, kinds));
    }
    EXPECT_EQ(statistics.inputs(), 5);
    expect_near(numbers_of(statistics.sums(0, 0)), numbers_of(wanted));
    EXPECT_EQ(statistics.sums(0, 0).repeats > 0, causal);
  }
}

TEST(CorpusStatistics, CountOnlyPositionsThatAreNoPadding) {
  support::AttentionCase c = support::plain_case(12, 4, false, 3);
  c.rule.mask.key_valid.assign(12, 1);
  c.rule.mask.key_valid[11] = c.rule.mask.key_valid[10] = 0;
  const PositionKinds kinds = random_kinds(12, 3);
  CorpusStatistics statistics;
  add(statistics, support::record_of(c), kinds);
  expect_near(numbers_of(statistics.sums(0, 0)), numbers_of(reference(c, 0, kinds)));
}

TEST(CorpusStatistics, LeaveOutRowsThatAreToldToBePadding) {
  const support::AttentionCase c = support::plain_case(9, 4, false, 5);
  PositionKinds kinds = random_kinds(9, 5);
  const HeadSums all = sums_of(support::record_of(c), kinds, kinds).front();
  kinds.padding.assign(9, 0);
  kinds.padding[7] = kinds.padding[8] = 1;
  const HeadSums some = sums_of(support::record_of(c), kinds, kinds).front();
  EXPECT_EQ(all.rows, 9);
  EXPECT_EQ(some.rows, 7);
  EXPECT_NEAR(some.delimiter_total, 7, kStatisticsTolerance);
}

TEST(CorpusStatistics, MeasureDistancesOfPatchesAsFarAsTheyGoToPatches) {
  const PictureAxis axis{.grid = {3, 5}, .specials = 2};
  const support::AttentionCase c = support::plain_case(axis.positions(), 8, false, 7);
  PositionKinds kinds{.picture = axis};
  kinds.special.assign(static_cast<size_t>(axis.positions()), 0);
  kinds.special[0] = kinds.special[1] = 1;
  kinds.delimiter = kinds.special;
  const support::DenseAttention dense = support::dense_attention(c);
  double distance = 0;
  for (int64_t i = 2; i < 17; ++i) {
    double mass = 0, moment = 0;
    for (int64_t j = 2; j < 17; ++j) {
      const double a = dense.weights[0][static_cast<size_t>(i * 17 + j)];
      mass += a;
      moment +=
          a * std::hypot(double((i - 2) / 5 - (j - 2) / 5), double((i - 2) % 5 - (j - 2) % 5));
    }
    distance += moment / mass / 15;
  }
  const HeadNumbers numbers = numbers_of(sums_of(support::record_of(c), kinds, kinds).front());
  EXPECT_NEAR(numbers.distance, distance, kStatisticsTolerance);
  // The same as the method of pictures says.
  EXPECT_NEAR(attention_distance({support::shared_record_of(c), 0}, axis, 1), distance,
              kStatisticsTolerance);
  EXPECT_TRUE(std::isnan(numbers.previous) && std::isnan(numbers.positional));
  EXPECT_FALSE(std::isnan(numbers.sink) || std::isnan(numbers.delimiter));
}

TEST(CorpusStatistics, CountOfCrossAttentionOnlyWhatTwoAxesHave) {
  support::AttentionCase c = support::plain_case(8, 4, false, 9);
  PositionKinds rows = random_kinds(8, 9), cols = random_kinds(8, 10);
  const HeadNumbers numbers = numbers_of(sums_of(support::record_of(c), rows, cols).front());
  const HeadNumbers wanted = numbers_of(reference(c, 0, cols));
  EXPECT_NEAR(numbers.entropy, wanted.entropy, kStatisticsTolerance);
  EXPECT_NEAR(numbers.delimiter, wanted.delimiter, kStatisticsTolerance);
  for (const auto member :
       {&HeadNumbers::distance, &HeadNumbers::previous, &HeadNumbers::duplicate,
        &HeadNumbers::induction, &HeadNumbers::sink, &HeadNumbers::positional}) {
    EXPECT_TRUE(std::isnan(numbers.*member));
  }
  EXPECT_EQ(head_type(numbers), head_type({.evenness = numbers.evenness,
                                           .confidence = numbers.confidence,
                                           .delimiter = numbers.delimiter}));
}

TEST(CorpusStatistics, GoOnFromAFileToTheLastDigit) {
  CorpusStatistics whole, part;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const support::AttentionCase c = support::plain_case(20, 4, true, seed);
    const PositionKinds kinds = random_kinds(20, seed);
    add(whole, support::record_of(c), kinds);
    whole.end_input();
    if (seed == 3) {
      part = CorpusStatistics::from_json(Json::parse(part.to_json().dump(), "part"), "part");
    }
    add(part, support::record_of(c), kinds);
    part.end_input();
  }
  EXPECT_EQ(whole.to_json().dump(), part.to_json().dump());
}

TEST(CorpusStatistics, RefuseFilesAndKindsThatDoNotFit) {
  const support::AttentionCase c = support::plain_case(5, 4, true, 1);
  CorpusStatistics statistics;
  EXPECT_THROW(add(statistics, support::record_of(c), random_kinds(4, 1)), Error);
  statistics.add({SiteKind::kSelf, 0}, std::vector<HeadSums>(2));
  EXPECT_THROW(statistics.add({SiteKind::kSelf, 0}, std::vector<HeadSums>(3)), Error);
  for (const char* text : {"{}", R"({"inputs": 1, "sums": [[[1, 2]]]})",
                           R"({"inputs": "x", "sums": []})", R"({"inputs": 1, "sums": 3})"}) {
    EXPECT_THROW(CorpusStatistics::from_json(Json::parse(text, "t"), "t"), Error) << text;
  }
}

TEST(HeadType, NamesWhatStandsOut) {
  EXPECT_EQ(head_type({.positional = 0.95, .offset = -1}), "previous token");
  EXPECT_EQ(head_type({.positional = 0.95, .offset = 2}), "positional +2");
  EXPECT_EQ(head_type({.positional = 0.95, .offset = 0}), "current token");
  EXPECT_EQ(head_type({.induction = 0.5}), "induction");
  EXPECT_EQ(head_type({.sink = 0.6}), "sink");
  EXPECT_EQ(head_type({.delimiter = 0.6}), "delimiter");
  EXPECT_EQ(head_type({.evenness = 0.95}), "broad");
  EXPECT_EQ(head_type({.duplicate = 0.4, .sink = 0.6}), "duplicate token");
  EXPECT_EQ(head_type({.retrieval = 0.4}), "retrieval");
  EXPECT_EQ(head_type({.confidence = 0.85}), "confident");
  EXPECT_EQ(head_type({}), "mixed");
  EXPECT_EQ(head_type(numbers_of({})), "mixed");  // nothing was counted
}

}  // namespace
}  // namespace fovea
