#include "fovea/explain/column_mass.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "unit/explain/map_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;

// Weights are off by 1e-6 of themselves (docs/numerics.md), and up to 37 are summed in f32.
constexpr double kColumnTolerance = 5e-6;

struct NaiveColumn {
  double sum = 0;
  int64_t looks = 0;
};

// By the definition: one column of one head, rows one by one.
NaiveColumn naive_column(const AttentionCase& c, const std::vector<double>& weights, int64_t j,
                         int64_t window) {
  NaiveColumn column;
  for (int64_t i = 0; i < c.shape.rows; ++i) {
    if (window > 0 && i < c.shape.rows - window) continue;
    if (!support::is_input(c, size_t(i))) continue;
    column.sum += weights[size_t(i * c.shape.cols + j)];
    if (c.rule.mask.allows(i, j)) ++column.looks;
  }
  return column;
}

void expect_naive(const AttentionCase& c, int64_t window) {
  SCOPED_TRACE(fmt::format("{}, window {}", c.name, window));
  const auto record = support::map_record(c);
  const auto dense = support::dense_attention(c).weights;
  const auto looks = looks_allowed(*record, window);
  const auto all_sum = column_mass(record, std::nullopt, ColumnTotal::kSum, window);
  const auto all_mean = column_mass(record, std::nullopt, ColumnTotal::kMean, window);
  std::vector<double> mean_of_heads(size_t(c.shape.cols), 0.0);
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    const auto sum = column_mass(record, head, ColumnTotal::kSum, window);
    const auto mean = column_mass(record, head, ColumnTotal::kMean, window);
    for (int64_t j = 0; j < c.shape.cols; ++j) {
      const NaiveColumn naive = naive_column(c, dense[size_t(head)], j, window);
      const double expected = naive.looks > 0 ? naive.sum / double(naive.looks) : 0;
      ASSERT_EQ(looks[size_t(j)], naive.looks) << "column " << j;
      ASSERT_NEAR(sum[size_t(j)], naive.sum, kColumnTolerance * std::max(1.0, naive.sum)) << j;
      ASSERT_NEAR(mean[size_t(j)], expected, kColumnTolerance) << j;
      mean_of_heads[size_t(j)] += naive.sum / double(c.shape.heads);
    }
  }
  for (size_t j = 0; j < mean_of_heads.size(); ++j) {
    ASSERT_NEAR(all_sum[j], mean_of_heads[j], kColumnTolerance * std::max(1.0, mean_of_heads[j]))
        << j;
    const double expected = looks[j] > 0 ? mean_of_heads[j] / double(looks[j]) : 0;
    ASSERT_NEAR(all_mean[j], expected, kColumnTolerance) << j;
  }
}

TEST(ColumnMass, EqualsTheDenseMapUnderEveryMask) {
  for (const AttentionCase& c : support::masked_cases()) {
    for (const int64_t window : {0, 1, 5, 1000}) expect_naive(c, window);
  }
}

TEST(ColumnMass, EqualsTheDenseMapForAnyRuleThatModelsHave) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    expect_naive(support::random_case(seed, 60, 2), seed % 3 == 0 ? 4 : 0);
  }
}

TEST(ColumnMass, IsAllThatRowsGiveAway) {
  const auto record = support::map_record(support::masked_cases()[1]);
  const auto sums = column_mass(record, 2, ColumnTotal::kSum);
  EXPECT_NEAR(std::accumulate(sums.begin(), sums.end(), 0.0), 37, 1e-4);
  EXPECT_EQ(looks_allowed(*record).front(), 37);
  EXPECT_EQ(looks_allowed(*record).back(), 1);
}

TEST(ColumnMass, CountsHugeWindowsWithoutOverflow) {
  AttentionCase c = support::masked_cases()[0];
  c.rule.mask = {.query_offset = -(int64_t{1} << 40),
                 .behind = std::numeric_limits<int64_t>::max(),
                 .ahead = std::numeric_limits<int64_t>::max()};
  for (const int64_t looks : looks_allowed(*support::map_record(c))) EXPECT_EQ(looks, 37);
}

Explanation explained(const ExplainRequest& request) {
  return explain(method_named("column-mass"), request);
}

TEST(ColumnMassMethod, TakesTheLastLayerAndTheMeanOfHeadsUnlessAsked) {
  const auto cases = support::masked_cases();
  const std::vector layers{support::map_record(cases[1], {SiteKind::kSelf, 0}),
                           support::map_record(cases[2], {SiteKind::kSelf, 1})};
  const fovea::Run run = support::map_run(layers);
  const Explanation last = explained({.run = run});
  EXPECT_EQ(last.scores, column_mass(layers[1], std::nullopt, ColumnTotal::kMean));
  EXPECT_EQ(last.axis.name, "tokens");
  EXPECT_EQ(last.measures, "attention received, mean of rows");
  EXPECT_EQ(last.layer, 1);
  EXPECT_TRUE(last.notes.empty());

  const Explanation asked = explained(
      {.run = run, .layer = 0, .head = 3, .parameters = {{"over", "sum"}, {"window", "9"}}});
  EXPECT_EQ(asked.scores, column_mass(layers[0], 3, ColumnTotal::kSum, 9));
  ASSERT_EQ(asked.notes.size(), 2U);
  EXPECT_EQ(asked.notes[0], "only the last 9 of 37 positions look");
  EXPECT_EQ(asked.notes[1], "sums favour early positions: 9 rows may see the first, 1 the last");
}

TEST(ColumnMassMethod, RefusesParametersOutsideOfTheirRange) {
  const fovea::Run run = support::map_run({support::map_record(support::masked_cases()[0])});
  const auto refuses = [&](const std::string& name, const std::string& value,
                           std::string_view says) {
    return fails_with(ErrorKind::kInvalidArgument, says, [&] {
      explained({.run = run, .parameters = {{name, value}}});
    });
  };
  EXPECT_TRUE(refuses("over", "max", "mean, sum"));
  EXPECT_TRUE(refuses("window", "-1", "from 0"));
  EXPECT_TRUE(refuses("window", "2.5", "whole number"));
}

}  // namespace
}  // namespace fovea
