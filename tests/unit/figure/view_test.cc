#include "fovea/figure/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/atlas/attention_map.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::dense_attention;
using support::text_run;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CapturedRun = fovea::Run;  // not testing::Run
using Kind = HeadChoice::Kind;

// Softmax weights of small random cases in f32: docs/numerics.md promises 1e-6 for scores below 20;
// a sum over a word adds that once per piece.
constexpr double kTolerance = 5e-6;

CapturedRun run_of(const AttentionCase& c) {
  CapturedRun run;
  run.model = "tiny";
  AttentionRecord record = support::record_of(c, {SiteKind::kCross, 2});
  record.row_axis = "target";
  record.col_axis = "source";
  Axis target{.name = "target", .source = "", .positions = {}};
  Axis source{.name = "source", .source = "", .positions = {}};
  for (int64_t i = 0; i < c.shape.rows; ++i) {
    target.positions.push_back({.text = "t" + std::to_string(i), .word = i / 3});
  }
  for (int64_t j = 0; j < c.shape.cols; ++j) {
    source.positions.push_back({.text = "s" + std::to_string(j), .word = j / 2});
  }
  run.axes = {target, source};
  run.records = {std::make_shared<const AttentionRecord>(std::move(record))};
  return run;
}

// One dense map in double: a head, or the mean, maximum or minimum of all; NaN where the mask
// forbids.
std::vector<std::vector<double>> dense_map(const AttentionCase& c, HeadChoice head) {
  const auto dense = dense_attention(c);
  std::vector<std::vector<double>> map(static_cast<size_t>(c.shape.rows),
                                       std::vector<double>(static_cast<size_t>(c.shape.cols)));
  for (size_t i = 0; i < map.size(); ++i) {
    for (size_t j = 0; j < map[i].size(); ++j) {
      double sum = 0;
      double largest = 0, smallest = 1;
      for (const auto& weights : dense.weights) {
        sum += weights[i * map[i].size() + j];
        largest = std::max(largest, weights[i * map[i].size() + j]);
        smallest = std::min(smallest, weights[i * map[i].size() + j]);
      }
      map[i][j] = head.kind == Kind::kOne
                      ? dense.weights[static_cast<size_t>(head.head)][i * map[i].size() + j]
                  : head.kind == Kind::kMax ? largest
                  : head.kind == Kind::kMin ? smallest
                                            : sum / static_cast<double>(c.shape.heads);
      if (!c.rule.mask.allows(static_cast<int64_t>(i), static_cast<int64_t>(j))) {
        map[i][j] = std::nan("");
      }
    }
  }
  return map;
}

void expect_same(const Tensor& weights, const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(weights.size(0), static_cast<int64_t>(expected.size()));
  ASSERT_EQ(weights.size(1), static_cast<int64_t>(expected[0].size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t j = 0; j < expected[i].size(); ++j) {
      const float found = weights.matrix<float>()(int64_t(i), int64_t(j));
      ASSERT_EQ(std::isnan(found), std::isnan(expected[i][j])) << i << ", " << j;
      if (std::isnan(found)) continue;
      ASSERT_NEAR(found, expected[i][j], kTolerance) << i << ", " << j;
    }
  }
}

// Rows by mean and columns by sum of groups of the given sizes; NaN if all of it is.
std::vector<std::vector<double>> merged(const std::vector<std::vector<double>>& map, size_t rows,
                                        size_t cols) {
  std::vector<std::vector<double>> result;
  for (size_t i = 0; i < map.size(); i += rows) {
    result.emplace_back();
    const size_t row_end = std::min(i + rows, map.size());
    for (size_t j = 0; j < map[0].size(); j += cols) {
      double sum = 0;
      bool any = false;
      for (size_t r = i; r < row_end; ++r) {
        for (size_t c = j; c < std::min(j + cols, map[0].size()); ++c) {
          if (std::isnan(map[r][c])) continue;
          sum += map[r][c];
          any = true;
        }
      }
      result.back().push_back(any ? sum / static_cast<double>(row_end - i) : std::nan(""));
    }
  }
  return result;
}

TEST(MatrixView, EqualsTheDenseReferenceForEveryKindOfRecordAndHead) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const AttentionCase c = support::random_case(seed, 40, 1);
    SCOPED_TRACE(c.name);
    const CapturedRun run = run_of(c);
    for (const HeadChoice& head :
         {HeadChoice{Kind::kOne, c.shape.heads - 1}, HeadChoice{Kind::kMean, 0},
          HeadChoice{Kind::kMax, 0}, HeadChoice{Kind::kMin, 0}}) {
      expect_same(matrix_view(run, {.head = head}).weights, dense_map(c, head));
      expect_same(matrix_view(run, {.head = head, .words = true}).weights,
                  merged(dense_map(c, head), 3, 2));
    }
  }
}

TEST(MatrixView, SaysRowsLayerHeadAndWhatTheySumTo) {
  const CapturedRun run = text_run({"[CLS]", "the", "cat", "sat"}, 4, false, 3);
  EXPECT_EQ(
      matrix_view(run, {.layer = 1, .head = {Kind::kOne, 3}}).text.caption,
      "Rows attend to columns · layer 1, head 3 · softmax weight · each row sums to 1.00 · grey: "
      "[CLS], with 38 % of all weight, on a scale of their own");
  const MatrixFigure mean = matrix_view(run, {});
  EXPECT_THAT(mean.text.caption, HasSubstr("layer 2, mean of 4 heads"));
  EXPECT_EQ(mean.text.title, "tiny · self-attention · layer 2, mean of 4 heads");
  EXPECT_EQ(mean.text.metadata.at("site", "").as_string(""), "self.2");
  EXPECT_EQ(mean.text.metadata.at("head", "").as_string(""), "mean");
  EXPECT_EQ(mean.text.metadata.at("input", "").as_string(""), "the cat sat");
  EXPECT_EQ(mean.text.metadata.at("model_hash", "").as_string(""), run.model_hash);
  EXPECT_EQ(mean.text.metadata.at("tokens", "").as_array("").size(), 4U);
  EXPECT_EQ(mean.scale.low, 0);
  EXPECT_GT(mean.scale.high, 0);
}

TEST(MatrixView, TheSumIsComputedNotClaimed) {
  CapturedRun run = text_run({"a", "b", "c"}, 1);
  AttentionRecord record = *run.records[0];
  record.rule.sink_logit = {3};
  // A sink that is as strong as all keys together takes half of each row.
  record.lse = record.lse.clone();
  for (double& lse : record.lse.mutable_values<double>()) lse += std::log(2.0);
  run.records = {std::make_shared<const AttentionRecord>(record)};
  EXPECT_THAT(matrix_view(run, {}).text.caption, HasSubstr("each row sums to 0.50"));
  const MatrixFigure most = matrix_view(text_run({"a", "b", "c"}, 5), {.head = {Kind::kMax, 0}});
  std::vector<double> sums;
  for (int64_t i = 0; i < 3; ++i) {
    const float* row = most.weights.matrix<float>().row(i);
    sums.push_back(double{row[0]} + double{row[1]} + double{row[2]});
  }
  const auto [low, high] = std::ranges::minmax(sums);
  EXPECT_THAT(most.text.caption, HasSubstr(fmt::format("rows sum to {:.2f} to {:.2f}", low, high)));
}

TEST(MatrixView, MarksTheChosenRowOrColumn) {
  const CapturedRun run = text_run({"the", "cat", "chas|es"});
  const MatrixFigure row = matrix_view(run, {.token = "cat"});
  EXPECT_EQ(row.chosen_row, 1);
  EXPECT_FALSE(row.chosen_col);
  const MatrixFigure column = matrix_view(run, {.token = "chases", .column = true});
  EXPECT_EQ(column.chosen_col, 3);
  EXPECT_THAT(column.text.caption, HasSubstr("the last of 2 pieces of \"chases\""));
  EXPECT_EQ(matrix_view(run, {.token = "chases", .words = true}).chosen_row, 2);
}

TEST(MatrixView, PoolsLongInputsByMaximumAndSaysSo) {
  constexpr int64_t kLength = 4100;
  CapturedRun run;
  run.model = "long";
  run.axes = {{.name = "tokens", .source = "", .positions = {}}};
  for (int64_t i = 0; i < kLength; ++i) {
    run.axes[0].positions.push_back({.text = "t" + std::to_string(i)});
  }
  const auto record = support::shared_record_of(support::plain_case(kLength, 4, true, 5));
  run.records = {record};
  const MatrixFigure figure = matrix_view(run, {.token = "t4099", .largest = true});
  const int64_t side = (kLength + 8) / 9;
  ASSERT_EQ(figure.weights.shape(), (Shape{side, side}));
  ASSERT_EQ(figure.rows.positions.size(), static_cast<size_t>(side));
  EXPECT_EQ(figure.rows.positions[1].text, "t9…t17");
  EXPECT_EQ(figure.chosen_row, side - 1);
  EXPECT_EQ(figure.row_place.of(side - 1), 4095);
  EXPECT_THAT(figure.text.caption, HasSubstr("row 4099 marked"));  // among tokens, not among blocks
  EXPECT_THAT(figure.text.caption, HasSubstr("max over blocks of 9 x 9"));
  EXPECT_THAT(figure.text.caption, HasSubstr("each row sums to 1.00"));
  const AttentionMap map(record, 0);
  const Tensor corner = map.tile({0, 9, 0, 9});
  const auto weights = figure.weights.matrix<float>();
  EXPECT_EQ(weights(0, 0), std::ranges::max(corner.values<float>()));
  EXPECT_TRUE(std::isnan(weights(0, 1)));
  EXPECT_THAT(message_of([&] { matrix_view(run, {.words = true}); }), HasSubstr("4100 words"));
}

TEST(MatrixView, RefusesMoreCellsThanAFigureHolds) {
  CapturedRun run;
  constexpr int64_t kLength = 9000;
  AttentionCase c = support::plain_case(kLength, 1, false, 1);
  run.axes = {{.name = "tokens", .source = "", .positions = {}}};
  run.axes[0].positions.resize(kLength);
  run.records = {support::shared_record_of(c)};
  EXPECT_THAT(message_of([&] { matrix_view(run, {.exact = true}); }),
              HasSubstr("9000 x 9000 would be 8.1e+07 cells but a figure holds 6.71e+07"));
  EXPECT_THAT(message_of([&] { lines_view(run, {}); }), HasSubstr("choose one head, or one token"));
}

TEST(HeadsView, HoldsAllHeadsOfALayerOrOfAllLayers) {
  const CapturedRun run = text_run({"the", "cat", "chas|es", "it"}, 12, true, 2);
  const HeadsFigure one = heads_view(run, {.layer = 0});
  ASSERT_EQ(one.panels.size(), 12U);
  EXPECT_EQ(one.panels_across, 4);
  EXPECT_EQ(one.panels[7].title, "head 7");
  EXPECT_THAT(one.text.caption, HasSubstr("layer 0, 12 heads"));
  const AttentionMap map(run.records[0], 7);
  EXPECT_EQ(one.panels[7].weights.matrix<float>()(3, 1), map.cell(3, 1));
  EXPECT_TRUE(std::isnan(one.panels[7].weights.matrix<float>()(1, 3)));
  const HeadsFigure all = heads_view(run, {.all_layers = true, .words = true});
  ASSERT_EQ(all.panels.size(), 24U);
  EXPECT_EQ(all.panels_across, 12);
  EXPECT_EQ(all.panels[13].title, "layer 1 · head 1");
  EXPECT_EQ(all.panels[13].weights.shape(), (Shape{4, 4}));
  EXPECT_THAT(all.text.caption, HasSubstr("layers 0 to 1, 12 heads each"));
  EXPECT_THAT(message_of([&] { heads_view(run, {.token = "cat"}); }), HasSubstr("'cat'"));
}

TEST(HeadsView, PoolsPanelsThatAreTooLarge) {
  CapturedRun run;
  run.axes = {{.name = "tokens", .source = "", .positions = {}}};
  run.axes[0].positions.resize(1100);
  run.records = {support::shared_record_of(support::plain_case(1100, 4, false, 3))};
  const HeadsFigure figure = heads_view(run, {});
  EXPECT_EQ(figure.panels[0].weights.shape(), (Shape{79, 79}));
  EXPECT_THAT(figure.text.caption, HasSubstr("per bin of 14 × 14: rows by mean, columns by sum"));
}

TEST(ReadView, ShowsARowOrAColumn) {
  const CapturedRun run = text_run({"[CLS]", "the", "cat", "sat", "[SEP]"}, 3, true);
  const AttentionMap map(run.records[0], 1);
  const ReadFigure row = read_view(run, {.head = {Kind::kOne, 1}, .token = "cat"});
  EXPECT_EQ(row.chosen, 2);
  EXPECT_EQ(row.weights[1], map.cell(2, 1));
  EXPECT_TRUE(std::isnan(row.weights[3]));
  EXPECT_EQ(row.text.caption,
            "Row 2 \"cat\" → what it attends to · layer 0, head 1 · softmax weight · sum 1.00");
  const ReadFigure column = read_view(run, {.head = {Kind::kOne, 1}, .token = "2", .column = true});
  EXPECT_TRUE(std::isnan(column.weights[1]));
  EXPECT_EQ(column.weights[4], map.cell(4, 2));
  double sum = 0;
  for (int64_t i = 2; i < 5; ++i) sum += double{map.cell(i, 2)};
  EXPECT_EQ(column.text.caption,
            fmt::format("Column 2 \"cat\" ← who attends to it · layer 0, head 1 · softmax weight · "
                        "sum {:.2f} · [SEP] has {:.2f}, beyond the scale",
                        sum, map.cell(4, 2)));
  EXPECT_EQ(column.text.metadata.at("column", "").as_int(""), 2);
  EXPECT_EQ(row.scale.high, double{row.weights[1]}) << "neither special nor the chosen one";
  EXPECT_EQ(read_view(run, {}).chosen, 3) << "the last that is not special";
}

TEST(ReadView, MergesTheChosenWordAndTheRest) {
  const CapturedRun run = text_run({"un|believ|able", "cats", "chas|ing"}, 2);
  const ReadFigure figure =
      read_view(run, {.head = {Kind::kOne, 0}, .token = "chasing", .words = true});
  const AttentionMap map(run.records[0], 0);
  ASSERT_EQ(figure.weights.size(), 3U);
  EXPECT_EQ(figure.axis.positions[0].text, "unbelievable");
  EXPECT_EQ(figure.chosen, 2);
  double expected = 0;
  for (int64_t j = 0; j < 3; ++j) {
    expected += (double{map.cell(4, j)} + double{map.cell(5, j)}) / 2;
  }
  EXPECT_NEAR(figure.weights[0], expected, kTolerance);
  EXPECT_THAT(figure.text.caption, HasSubstr("sum 1.00 · pieces merged to words"));
}

TEST(ReadView, HasNoChosenPositionInAnotherText) {
  const CapturedRun run = run_of(support::random_case(2, 20, 1));
  const ReadFigure figure = read_view(run, {.token = "t0"});
  EXPECT_EQ(figure.chosen, -1);
  EXPECT_EQ(figure.axis.name, "source");
  EXPECT_THAT(figure.text.caption, StartsWith("Row 0 \"t0\""));
}

TEST(LinesView, HasAPanelPerHeadOrOneForAll) {
  const CapturedRun run = text_run({"the", "cat", "sat"}, 3);
  const LinesFigure all = lines_view(run, {.token = "cat"});
  EXPECT_EQ(all.heads.size(), 3U);
  EXPECT_EQ(all.heads[2].title, "head 2");
  EXPECT_EQ(all.chosen_row, 1);
  EXPECT_THAT(all.text.caption,
              StartsWith("Row 1 \"cat\" → what it attends to · layer 0, 3 heads"));
  const LinesFigure mean = lines_view(run, {.head = {Kind::kMean, 0}});
  ASSERT_EQ(mean.heads.size(), 1U);
  EXPECT_EQ(mean.heads[0].title, "mean of 3 heads");
}

TEST(Views, RefuseWhatTheRunDoesNotHold) {
  const CapturedRun run = text_run({"the", "cat", "the", "5"}, 2, false, 3);
  const auto refused = [&](const ViewChoice& choice) {
    return message_of([&] { matrix_view(run, choice); });
  };
  EXPECT_THAT(refused({.kind = SiteKind::kCross}), HasSubstr("no cross-attention; it has self"));
  EXPECT_THAT(refused({.layer = 3}), HasSubstr("layer 3 is asked for but the self-attention has "
                                               "layers 0 to 2"));
  EXPECT_THAT(refused({.head = {Kind::kOne, 2}}), HasSubstr("self.2 has 2 heads, 0 to 1"));
  EXPECT_THAT(refused({.token = "the"}), HasSubstr("'the' occurs 2 times, at 0, 2"));
  EXPECT_THAT(refused({.token = "dog"}), HasSubstr("none of the 4 tokens: the, cat, the, 5"));
  EXPECT_THAT(refused({.token = "9"}), HasSubstr("position 9 is asked for but there are 4"));
  EXPECT_THAT(refused({.token = "#-1"}), HasSubstr("position -1"));
  EXPECT_THAT(refused({.column = true}), HasSubstr("no token is chosen"));
  EXPECT_THAT(message_of([] { matrix_view(CapturedRun{}, {}); }), HasSubstr("holds no attention"));
  EXPECT_EQ(matrix_view(run, {.token = "5"}).chosen_row, 3) << "a label goes before a number";
  EXPECT_EQ(matrix_view(run, {.token = "#1"}).chosen_row, 1);
}

TEST(LinesView, AreAsStrongAsWhatIsDrawn) {
  const CapturedRun run = text_run({"the", "cat", "sat"}, 2, true);
  const LinesFigure plain = lines_view(run, {});
  EXPECT_FALSE(plain.strength);
  const LinesFigure even = lines_view(run, {.of = MapValue::kTimesEven});
  ASSERT_TRUE(even.strength);
  EXPECT_EQ(even.value_name, "weight, times even");
  const float weight = plain.heads[1].weights.matrix<float>()(2, 1);
  EXPECT_NEAR(even.heads[1].weights.matrix<float>()(2, 1), 3 * weight, 1e-5);
  EXPECT_THAT(even.text.caption, HasSubstr("log strength ÷32 to ×32"));
  EXPECT_THROW(lines_view(run, {.of = MapValue::kScore}), Error);
}

TEST(ReadingView, SharesTheColoursOfAllLines) {
  const CapturedRun run = text_run({"the", "cat", "sat"}, 2, true);
  const ReadingFigure figure = reading_view(run, {.of = MapValue::kTimesEven});
  EXPECT_TRUE(figure.scale.times_even);
  for (const ReadFigure& line : figure.lines) EXPECT_EQ(line.scale.high, figure.scale.high);
  EXPECT_THAT(figure.text.caption, HasSubstr("divided by what even attention gives"));
  EXPECT_THAT(reading_view(run, {}).text.caption, HasSubstr("each row sums to 1.00"));
}

}  // namespace
}  // namespace fovea
