#include "fovea/atlas/merged_map.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"
#include "support/records.h"

namespace fovea {
namespace {

// A text without spaces is one word: its group is longer than the strips that maps are computed in.
TEST(MergedMap, AGroupLongerThanAStripIsMergedWhole) {
  const int64_t length = 1500;
  const auto record = support::shared_record_of(support::plain_case(length, 8, true, /*seed=*/7));
  std::vector<PositionGroup> singles;
  for (int64_t i = 0; i < length; ++i) singles.push_back({i, i + 1});
  const std::vector<PositionGroup> words{{0, 100}, {100, length - 2}, {length - 2, length}};
  const MergedMap merged =
      merged_map(record, {HeadChoice::Kind::kOne, 0}, words, singles, Merge::kWords);

  const AttentionMap map(record, 0);
  for (size_t word = 0; word < words.size(); ++word) {
    std::vector<double> wanted(static_cast<size_t>(length));
    for (int64_t row = words[word].begin; row < words[word].end; ++row) {
      const std::vector<float> weights = map.row(row);
      for (size_t col = 0; col < wanted.size(); ++col) wanted[col] += double{weights[col]};
    }
    const float* found = merged.weights.matrix<float>().row(static_cast<int64_t>(word));
    for (size_t col = 0; col < wanted.size(); ++col) {
      const double expected = wanted[col] / static_cast<double>(words[word].size());
      if (static_cast<int64_t>(col) >= words[word].end) {
        EXPECT_TRUE(std::isnan(found[col]));
      } else {
        EXPECT_NEAR(found[col], expected, 1e-6);  // up to 1400 additions in f32
      }
    }
  }
  for (const double sum : merged.row_sums) EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(PooledMap, EqualsTheMapMergedByBlocks) {
  support::AttentionCase windowed = support::plain_case(1100, 8, true, /*seed=*/8);
  windowed.rule.mask.behind = 150;
  support::AttentionCase padded = support::plain_case(1100, 8, false, /*seed=*/9);
  padded.rule.mask.key_valid.assign(1100, 1);
  std::fill_n(padded.rule.mask.key_valid.begin() + 200, 300, uint8_t{0});
  for (const support::AttentionCase& c :
       {support::plain_case(1100, 8, true, /*seed=*/7), windowed, padded}) {
    const auto record = support::shared_record_of(c);
    std::vector<PositionGroup> blocks;
    for (int64_t i = 0; i < 1100; i += 48) blocks.push_back({i, std::min<int64_t>(i + 48, 1100)});
    const MergedMap wanted =
        merged_map(record, {HeadChoice::Kind::kOne, 0}, blocks, blocks, Merge::kMax);
    const MergedMap pooled = pooled_map(record, 0, 48, Merge::kMax);
    ASSERT_EQ(pooled.weights.shape(), wanted.weights.shape());
    int64_t forbidden = 0;
    for (size_t i = 0; i < size_t(wanted.weights.elements()); ++i) {
      const float expected = wanted.weights.values<float>()[i];
      const float found = pooled.weights.values<float>()[i];
      forbidden += std::isnan(expected) ? 1 : 0;
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << i;
    }
    EXPECT_GT(forbidden, 0);
    ASSERT_EQ(pooled.row_sums.size(), blocks.size());
    for (const double sum : pooled.row_sums) EXPECT_NEAR(sum, 1, 1e-5);
  }
}

// What a run of one head and made-up mask looks like where every score is the same.
std::shared_ptr<const AttentionRecord> even_record(int64_t length, const Mask& mask) {
  support::AttentionCase c = support::plain_case(length, 8, false, /*seed=*/3);
  c.rule.scale = 0;
  c.rule.mask = mask;
  return support::shared_record_of(c);
}

std::vector<Mask> masks_of(int64_t length) {
  Mask padded = Mask::causal();
  padded.key_valid.assign(static_cast<size_t>(length), 1);
  std::fill_n(padded.key_valid.begin() + length / 3, length / 4, uint8_t{0});
  Mask window = Mask::causal();
  window.behind = 9;
  Mask groups;
  for (int64_t i = 0; i < length; ++i) {
    groups.query_group.push_back(static_cast<int32_t>(i / 7));
    groups.key_group.push_back(static_cast<int32_t>(i / 7));
  }
  return {Mask{}, Mask::causal(), padded, window, groups};
}

std::vector<PositionGroup> random_words(int64_t length, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<PositionGroup> words;
  for (int64_t i = 0; i < length;) {
    const int64_t end = std::min<int64_t>(length, i + 1 + static_cast<int64_t>(random() % 5));
    words.push_back({i, end});
    i = end;
  }
  return words;
}

TEST(TimesEven, IsOneEverywhereInAnEvenMap) {
  const int64_t length = 131;
  for (const Mask& mask : masks_of(length)) {
    const auto record = even_record(length, mask);
    for (const uint32_t seed : {1U, 2U, 3U}) {
      const std::vector<PositionGroup> words = random_words(length, seed);
      const MergedMap map = merged_map(record, {HeadChoice::Kind::kOne, 0}, words, words,
                                       Merge::kWords, MapValue::kTimesEven);
      for (const float x : map.weights.values<float>()) {
        if (std::isnan(x)) continue;
        ASSERT_NEAR(x, 1, 1e-4);  // sums of some hundred f32 weights
      }
    }
    for (const int64_t bin : {1, 2, 7, 60, 131, 200}) {
      const MergedMap map = pooled_map(record, 0, bin, Merge::kWords, MapValue::kTimesEven);
      int64_t seen = 0;
      for (const float x : map.weights.values<float>()) {
        if (std::isnan(x)) continue;
        ++seen;
        ASSERT_NEAR(x, 1, 1e-4) << bin;
      }
      EXPECT_GT(seen, 0);
    }
  }
}

// Bins of which nothing is left are 0.
TEST(TimesEven, IsOneInAnEvenMapOfWhichColumnsAreLeftOut) {
  const int64_t length = 131;
  const std::vector<int64_t> columns{0, 1, 57, 130};
  const auto expect_ones = [](const Tensor& x) {
    int64_t ones = 0;
    for (const float value : x.values<float>()) {
      if (std::isnan(value) || value == 0) continue;
      ++ones;
      ASSERT_NEAR(value, 1, 1e-4);
    }
    EXPECT_GT(ones, 0);
  };
  for (const Mask& mask : masks_of(length)) {
    const auto record = even_record(length, mask);
    const std::vector<PositionGroup> words = random_words(length, 5);
    expect_ones(merged_map(record, {HeadChoice::Kind::kOne, 0}, words, words, Merge::kWords,
                           MapValue::kTimesEven, columns)
                    .weights);
    for (const int64_t bin : {1, 2, 7, 60, 200}) {
      MapSurvey survey = survey_map(record, 0, bin);
      take_out(survey, record, 0, columns);
      expect_ones(map_of(survey, Merge::kWords, MapValue::kTimesEven).weights);
    }
  }
}

TEST(TimesEven, IsTheShareOverTheEvenShareOfANaiveReference) {
  support::AttentionCase c = support::plain_case(90, 8, true, /*seed=*/5);
  c.rule.mask.key_valid.assign(90, 1);
  std::fill_n(c.rule.mask.key_valid.begin() + 20, 15, uint8_t{0});
  const auto record = support::shared_record_of(c);
  const std::vector<double> weights = support::dense_attention(c).weights.front();
  const std::vector<PositionGroup> words = random_words(90, 4);
  const MergedMap found = merged_map(record, {HeadChoice::Kind::kOne, 0}, words, words,
                                     Merge::kWords, MapValue::kTimesEven);
  for (size_t r = 0; r < words.size(); ++r) {
    for (size_t s = 0; s < words.size(); ++s) {
      double share = 0, even = 0;
      for (int64_t i = words[r].begin; i < words[r].end; ++i) {
        double allowed = 0, here = 0;
        for (int64_t j = 0; j < 90; ++j) allowed += c.rule.mask.allows(i, j) ? 1 : 0;
        for (int64_t j = words[s].begin; j < words[s].end; ++j) {
          here += c.rule.mask.allows(i, j) ? 1 : 0;
          share += weights[static_cast<size_t>(i * 90 + j)];
        }
        even += allowed > 0 ? here / allowed : 0;
      }
      const float x = found.weights.matrix<float>()(int64_t(r), int64_t(s));
      ASSERT_EQ(std::isnan(x), even == 0);
      if (even > 0) {
        ASSERT_NEAR(x, share / even, 1e-4 * std::max(1.0, share / even));
      }
    }
  }
  EXPECT_THROW(pooled_map(record, 0, 2, Merge::kMax, MapValue::kTimesEven), Error);
}

// Scores of some units in f32, whose mean is of up to 25.
TEST(MapValues, AScoreIsTheMeanOfWhatSoftmaxTakesAndAWeightMayCountTheLengthOfItsValue) {
  const support::AttentionCase c = support::plain_case(40, 8, true, /*seed=*/6);
  const auto record = support::shared_record_of(c);
  const std::vector<PositionGroup> words = random_words(40, 9);
  const HeadChoice head{HeadChoice::Kind::kOne, 0};
  const AttentionMap map(record, 0);
  const Tensor scores = map.score_tile(map.whole()), weights = map.tile(map.whole());
  const MergedMap mean = merged_map(record, head, words, words, Merge::kWords, MapValue::kScore);
  const MergedMap sums =
      merged_map(record, head, words, words, Merge::kWords, MapValue::kValueWeighted);
  const Tensor values = convert(record->values, DType::kF32);
  for (size_t r = 0; r < words.size(); ++r) {
    for (size_t s = 0; s <= r; ++s) {
      double score = 0, weighted = 0, count = 0;
      for (int64_t i = words[r].begin; i < words[r].end; ++i) {
        for (int64_t j = words[s].begin; j < std::min(words[s].end, i + 1); ++j) {
          ++count;
          score += double{scores.matrix<float>()(i, j)};
          const float* value = values.values<float>().data() + j * values.size(2);
          weighted += double{weights.matrix<float>()(i, j)} *
                      std::sqrt(std::inner_product(value, value + values.size(2), value, 0.0));
        }
      }
      const auto row = int64_t(r), col = int64_t(s);
      ASSERT_NEAR(mean.weights.matrix<float>()(row, col), score / count, 1e-5);
      ASSERT_NEAR(sums.weights.matrix<float>()(row, col),
                  weighted / static_cast<double>(words[r].size()), 1e-5);
    }
  }
  // What softmax takes gives the weights again.
  const float first = scores.matrix<float>()(1, 0), second = scores.matrix<float>()(1, 1);
  EXPECT_NEAR(weights.matrix<float>()(1, 0), 1 / (1 + std::exp(second - first)), 1e-6);
}

// Weights of the mean are added up in double from weights in f32, and so are those here.
TEST(LineOf, IsARowOrColumnOfOneHeadOrOfTheMeanMaximumOrMinimumOfAll) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const support::AttentionCase c = support::random_case(seed, 20, 1);
    SCOPED_TRACE(c.name);
    const auto record = support::shared_record_of(c);
    const int64_t heads = c.shape.heads;
    for (const bool column : {false, true}) {
      const int64_t index = (column ? c.shape.cols : c.shape.rows) - 1;
      std::vector<double> sums, most, least;
      for (int64_t h = 0; h < heads; ++h) {
        const AttentionMap map(record, h);
        const std::vector<float> line = column ? map.column(index) : map.row(index);
        const std::vector<double> wanted(line.begin(), line.end());
        EXPECT_EQ(line_of(record, index, {HeadChoice::Kind::kOne, h}, column), wanted);
        sums.resize(line.size());
        most.resize(line.size());
        least.resize(line.size(), 1);
        for (size_t i = 0; i < line.size(); ++i) {
          sums[i] += wanted[i];
          most[i] = std::max(most[i], wanted[i]);
          least[i] = std::min(least[i], wanted[i]);
        }
      }
      EXPECT_EQ(line_of(record, index, {HeadChoice::Kind::kMax, 0}, column), most);
      EXPECT_EQ(line_of(record, index, {HeadChoice::Kind::kMin, 0}, column), least);
      const std::vector<double> mean = line_of(record, index, {HeadChoice::Kind::kMean, 0}, column);
      EXPECT_EQ(line_of(record, index, {}, column), mean);
      ASSERT_EQ(mean.size(), sums.size());
      for (size_t i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(mean[i], sums[i] / static_cast<double>(heads), 1e-15);
      }
    }
  }
}

// A product of a weight that is right to 1e-6 and of how many keys a row may see.
TEST(LineOf, TellsOtherValuesCellByCell) {
  for (const Mask& mask : masks_of(60)) {
    support::AttentionCase c = support::plain_case(60, 8, false, /*seed=*/5);
    c.rule.mask = mask;
    const auto record = support::shared_record_of(c);
    const AttentionMap map(record, 0);
    const HeadChoice head{HeadChoice::Kind::kOne, 0};
    const Tensor weights = map.tile(map.whole()), scores = map.score_tile(map.whole());
    for (const bool column : {false, true}) {
      const int64_t index = 41;
      const std::vector<double> even = line_of(record, index, head, column, MapValue::kTimesEven);
      const std::vector<double> score = line_of(record, index, head, column, MapValue::kScore);
      ASSERT_EQ(even.size(), 60U);
      for (int64_t i = 0; i < 60; ++i) {
        const int64_t row = column ? i : index, col = column ? index : i;
        const auto at = static_cast<size_t>(i);
        if (!mask.allows(row, col)) {
          EXPECT_TRUE(std::isnan(even[at]) && std::isnan(score[at]));
          continue;
        }
        double allowed = 0;
        for (int64_t j = 0; j < 60; ++j) allowed += mask.allows(row, j) ? 1 : 0;
        const double weight = double{weights.matrix<float>()(row, col)};
        EXPECT_NEAR(even[at], weight * allowed, 1e-6 * allowed * allowed);
        EXPECT_NEAR(score[at], double{scores.matrix<float>()(row, col)}, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace fovea
