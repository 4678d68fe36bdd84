#include "fovea/atlas/map_survey.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/even_attention.h"
#include "fovea/atlas/renormalised.h"
#include "support/records.h"

namespace fovea {
namespace {

// The same in double from a dense map, cell by cell.
struct NaiveSurvey {
  std::vector<double> share, largest, even, column_sums, by_distance, even_by_distance;
  std::vector<bool> allowed;
};

NaiveSurvey naive_survey(const support::AttentionCase& c, int64_t block,
                         const std::vector<int64_t>& left_out) {
  const int64_t rows = c.shape.rows, cols = c.shape.cols;
  const int64_t down = blocks_of(rows, block), across = blocks_of(cols, block);
  const std::vector<double> weights = support::dense_attention(c).weights.front();
  NaiveSurvey wanted;
  for (auto* list : {&wanted.share, &wanted.largest, &wanted.even}) {
    list->resize(static_cast<size_t>(down * across));
  }
  wanted.allowed.resize(wanted.share.size());
  wanted.column_sums.resize(static_cast<size_t>(cols));
  wanted.by_distance.resize(40);
  wanted.even_by_distance.resize(40);
  for (int64_t i = 0; i < rows; ++i) {
    double allowed = 0;
    for (int64_t j = 0; j < cols; ++j) allowed += c.rule.mask.allows(i, j) ? 1 : 0;
    const auto in_bin = static_cast<double>(std::min(block, rows - i / block * block));
    for (int64_t j = 0; j < cols; ++j) {
      const double weight = weights[static_cast<size_t>(i * cols + j)];
      wanted.column_sums[static_cast<size_t>(j)] += weight;
      const auto cell = static_cast<size_t>(i / block * across + j / block);
      if (c.rule.mask.allows(i, j)) wanted.allowed[cell] = true;
      if (std::ranges::count(left_out, j) > 0) continue;
      const double even = c.rule.mask.allows(i, j) ? 1 / allowed : 0;
      wanted.share[cell] += weight / in_bin;
      wanted.even[cell] += even / in_bin;
      wanted.largest[cell] = std::max(wanted.largest[cell], weight);
      const int64_t distance = std::abs(i + c.rule.mask.query_offset - j);
      size_t step = 0;
      while (first_distance(static_cast<int64_t>(step) + 1) <= distance) ++step;
      wanted.by_distance[step] += weight;
      wanted.even_by_distance[step] += even;
    }
  }
  return wanted;
}

void expect_near(std::span<const float> found, const std::vector<double>& wanted,
                 std::string_view what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  // Weights are f32; a bin sums up to some thousand of them.
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(std::isnan(found[i]) ? 0 : found[i], wanted[i], 2e-5) << what << i;
  }
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted,
                 std::string_view what) {
  for (size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    const double a = i < found.size() ? found[i] : 0, b = i < wanted.size() ? wanted[i] : 0;
    ASSERT_NEAR(a, b, 2e-5 * std::max(1.0, b)) << what << i;
  }
}

void expect_survey(const MapSurvey& found, const NaiveSurvey& wanted) {
  expect_near(found.share.values<float>(), wanted.share, "share ");
  expect_near(found.largest.values<float>(), wanted.largest, "largest ");
  expect_near(found.even.values<float>(), wanted.even, "even ");
  const auto share = found.share.values<float>();
  for (size_t i = 0; i < share.size(); ++i) {
    ASSERT_EQ(std::isnan(share[i]), !wanted.allowed[i]) << i;
    ASSERT_EQ(std::isnan(found.largest.values<float>()[i]), !wanted.allowed[i]) << i;
  }
  expect_near(found.column_sums, wanted.column_sums, "column ");
  expect_near(found.by_distance, wanted.by_distance, "distance ");
  expect_near(found.even_by_distance, wanted.even_by_distance, "even distance ");
}

std::vector<support::AttentionCase> masked_cases(int64_t length) {
  support::AttentionCase causal = support::plain_case(length, 8, true, /*seed=*/7);
  support::AttentionCase open = support::plain_case(length, 8, false, /*seed=*/8);
  support::AttentionCase window = support::plain_case(length, 8, true, /*seed=*/9);
  window.rule.mask.behind = 37;
  support::AttentionCase padded = support::plain_case(length, 8, true, /*seed=*/10);
  padded.rule.mask.key_valid.assign(static_cast<size_t>(length), 1);
  std::fill_n(padded.rule.mask.key_valid.begin() + length / 3, length / 5, uint8_t{0});
  return {causal, open, window, padded};
}

TEST(MapSurvey, EqualsANaiveReferenceAtEveryBin) {
  for (const int64_t length : {1, 5, 64, 333, 700}) {
    for (const support::AttentionCase& c : masked_cases(length)) {
      const auto record = support::shared_record_of(c);
      for (const int64_t block : {1, 2, 15, 48, 64, 250, 1000}) {
        SCOPED_TRACE(testing::Message() << length << " in bins of " << block);
        const MapSurvey found = survey_map(record, 0, block);
        expect_survey(found, naive_survey(c, block, {}));
      }
    }
  }
}

TEST(MapSurvey, LeavesColumnsOutAsIfTheyWereNotThere) {
  for (const support::AttentionCase& c : masked_cases(300)) {
    const auto record = support::shared_record_of(c);
    for (const int64_t block : {1, 4, 37, 300}) {
      MapSurvey found = survey_map(record, 0, block);
      const std::vector<int64_t> columns{0, 3, 41, 299};
      take_out(found, record, 0, columns);
      expect_survey(found, naive_survey(c, block, columns));
    }
  }
}

// Rows of generated text come behind the keys of their prompt.
TEST(MapSurvey, CountsDistancesFromTheRowsOwnPlace) {
  support::AttentionCase c = support::plain_case(120, 8, false, /*seed=*/2);
  c.shape.rows = 50;
  Tensor queries(Shape{1, 50, 8});
  std::copy_n(c.queries.values<float>().begin(), 400, queries.mutable_values<float>().begin());
  c.queries = queries;
  c.rule.mask = Mask::causal(70);
  const auto record = support::shared_record_of(c);
  for (const int64_t block : {1, 7}) {
    expect_survey(survey_map(record, 0, block), naive_survey(c, block, {}));
  }
}

TEST(MapSurvey, CountsNoDistancesBetweenTwoTexts) {
  AttentionRecord record =
      support::record_of(support::plain_case(40, 8, false, /*seed=*/1), {SiteKind::kCross, 0});
  record.row_axis = "target";
  record.col_axis = "source";
  const MapSurvey found =
      survey_map(std::make_shared<const AttentionRecord>(std::move(record)), 0, 4);
  EXPECT_TRUE(found.by_distance.empty());
  EXPECT_EQ(found.column_sums.size(), 40U);
}

// A head of which nothing but 1e-4 is left: the rows must sum to 1 all the same.
TEST(Renormalised, DividesRowsByWhatTheyLeave) {
  for (support::AttentionCase c : masked_cases(60)) {
    c.keys = c.keys.clone();  // the cases share theirs
    for (float& key : c.keys.mutable_values<float>().first(8)) key *= 9;
    const auto record = support::shared_record_of(c);
    const std::vector<int64_t> columns{0, 20};
    const HeadChoice head{HeadChoice::Kind::kOne, 0};
    const AttentionMap map(record, 0), rest(renormalised(record, head, columns), 0);
    for (int64_t row = 0; row < 60; ++row) {
      const std::vector<float> old = map.row(row), found = rest.row(row);
      double kept = 0, sum = 0;
      for (size_t j = 0; j < old.size(); ++j) {
        if (j != 0 && j != 20) kept += double{old[j]};
      }
      for (size_t j = 0; j < old.size(); ++j) {
        sum += double{found[j]};
        const double wanted = j == 0 || j == 20 || kept == 0 ? 0 : double{old[j]} / kept;
        ASSERT_NEAR(found[j], wanted, 1e-4) << row;  // of weights in f32
      }
      ASSERT_NEAR(sum, kept > 0 ? 1 : 0, 1e-5) << row;
    }
  }
}

TEST(MaskCounts, CountWhatIsAllowedWithoutTheColumnsLeftOut) {
  const support::AttentionCase c = masked_cases(50)[3];
  const std::vector<int64_t> columns{2, 20, 49};
  const MaskCounts counts(c.rule.mask, 50, columns);
  for (int64_t row = 0; row < 50; ++row) {
    int64_t all = 0, within = 0;
    for (int64_t j = 0; j < 50; ++j) {
      if (!c.rule.mask.allows(row, j)) continue;
      ++all;
      if (j >= 1 && j < 30 && std::ranges::count(columns, j) == 0) ++within;
    }
    EXPECT_EQ(counts.all(row), all);
    EXPECT_EQ(counts.within(row, 1, 30), within);
  }
}

}  // namespace
}  // namespace fovea
