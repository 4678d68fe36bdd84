#include "fovea/atlas/merged_map.h"

#include <gtest/gtest.h>

#include "fovea/atlas/attention_map.h"
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
    const MergedMap pooled = pooled_map(record, 0, 48);
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

// Weights of the mean are added up in double from weights in f32, and so are those here.
TEST(LineOf, IsARowOrColumnOfOneHeadOrOfTheMeanOrMaximumOfAll) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const support::AttentionCase c = support::random_case(seed, 20, 1);
    SCOPED_TRACE(c.name);
    const auto record = support::shared_record_of(c);
    const int64_t heads = c.shape.heads;
    for (const bool column : {false, true}) {
      const int64_t index = (column ? c.shape.cols : c.shape.rows) - 1;
      std::vector<double> sums, most;
      for (int64_t h = 0; h < heads; ++h) {
        const AttentionMap map(record, h);
        const std::vector<float> line = column ? map.column(index) : map.row(index);
        const std::vector<double> wanted(line.begin(), line.end());
        EXPECT_EQ(line_of(record, index, {HeadChoice::Kind::kOne, h}, column), wanted);
        sums.resize(line.size());
        most.resize(line.size());
        for (size_t i = 0; i < line.size(); ++i) {
          sums[i] += wanted[i];
          most[i] = std::max(most[i], wanted[i]);
        }
      }
      EXPECT_EQ(line_of(record, index, {HeadChoice::Kind::kMax, 0}, column), most);
      const std::vector<double> mean = line_of(record, index, {HeadChoice::Kind::kMean, 0}, column);
      EXPECT_EQ(line_of(record, index, {}, column), mean);
      ASSERT_EQ(mean.size(), sums.size());
      for (size_t i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(mean[i], sums[i] / static_cast<double>(heads), 1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace fovea
