#include "fovea/figure/map_overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "fovea/atlas/attention_map.h"
#include "fovea/explain/head_numbers.h"
#include "fovea/figure/head_marks.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Rows give half of their weight to one column, and the rest to their own word and the one before.
fovea::Run run_with_sink(int64_t length, int64_t sink, bool causal) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < length; ++i) words.push_back("w" + std::to_string(i));
  fovea::Run run = support::text_run(words, 1, causal);
  support::AttentionCase c;
  c.shape = {1, 1, length, length, length, length};
  c.queries = Tensor(Shape{1, length, length});
  c.keys = Tensor(Shape{1, length, length});
  c.values = Tensor(Shape{1, length, length});
  if (causal) c.rule.mask = Mask::causal();
  for (int64_t i = 0; i < length; ++i) {
    float* query = c.queries.mutable_matrix<float>(0).row(i);
    query[i] = 9;
    query[std::max<int64_t>(i - 1, 0)] = 9;
    query[sink] = 9.7F;
    c.keys.mutable_matrix<float>(0)(i, i) = 1;
  }
  run.records = {support::shared_record_of(c)};
  return run;
}

const HeadChoice kFirstHead{HeadChoice::Kind::kOne, 0};

TEST(Sinks, AreColumnsThatHalfOfTheRowsSeeAndATenthOfTheWeightGoesTo) {
  const fovea::Run early = run_with_sink(100, 20, true), late = run_with_sink(100, 60, true);
  const AttentionMap map(early.records[0], 0), other(late.records[0], 0);
  EXPECT_EQ(sink_columns(*early.records[0], map.column_sums()), std::vector<int64_t>{20});
  EXPECT_TRUE(sink_columns(*late.records[0], other.column_sums()).empty());
  const fovea::Run open = run_with_sink(100, 60, false);
  const AttentionMap whole(open.records[0], 0);
  EXPECT_EQ(sink_columns(*open.records[0], whole.column_sums()), std::vector<int64_t>{60});
}

TEST(MatrixView, DrawsTheSinkOfALongMapApart) {
  const fovea::Run run = run_with_sink(100, 0, true);
  const MatrixFigure figure = matrix_view(run, {.head = kFirstHead});
  ASSERT_TRUE(figure.overview);
  ASSERT_EQ(figure.overview->apart.size(), 1U);
  const ColumnApart& sink = figure.overview->apart[0];
  EXPECT_EQ(sink.name, "token 0");
  const AttentionMap map(run.records[0], 0);
  const std::vector<float> column = map.column(0);
  for (size_t r = 0; r < 100; ++r) EXPECT_EQ(sink.weights[r], column[r]);
  EXPECT_NEAR(sink.share, std::accumulate(column.begin(), column.end(), 0.0) / 100, 1e-6);
  EXPECT_THAT(figure.text.caption, HasSubstr("drawn apart in grey: token 0 “w0” with "));
  EXPECT_THAT(figure.text.caption, HasSubstr("light grey: not allowed"));
  EXPECT_EQ(figure.text.subtitle, "100 tokens, every weight");
  EXPECT_EQ(figure.text.badge, "");
  // Its column is not among the colours; all others are.
  EXPECT_EQ(figure.weights.matrix<float>()(50, 0), 0);
  EXPECT_NEAR(figure.weights.matrix<float>()(50, 49), map.cell(50, 49) * 51, 1e-3);
  double all = sink.share;
  double even = 0;
  for (const DistanceShare& each : figure.overview->distances) {
    all += each.share;
    even += each.even;
  }
  EXPECT_NEAR(all, 1, 1e-6);
  // What even attention gives the sink is missing: 1 + 1/2 + ... + 1/100 of 100.
  EXPECT_NEAR(even, 1 - 5.187377518 / 100, 1e-6);
}

TEST(MatrixView, HidesSinksAndDividesRowsByTheRest) {
  const fovea::Run run = run_with_sink(100, 0, true);
  const AttentionMap map(run.records[0], 0);
  const MatrixFigure hidden = matrix_view(run, {.head = kFirstHead, .hide_sinks = true});
  EXPECT_TRUE(hidden.overview->apart.empty());
  EXPECT_THAT(hidden.text.badge, HasSubstr(" % hidden"));
  EXPECT_THAT(hidden.text.badge, Not(HasSubstr("divided")));
  EXPECT_THAT(hidden.text.caption, HasSubstr("hidden: token 0 “w0” with"));
  EXPECT_NEAR(hidden.weights.matrix<float>()(50, 49), map.cell(50, 49) * 51, 1e-3);

  const ViewChoice weights{
      .head = kFirstHead, .of = MapValue::kWeight, .hide_sinks = true, .renormalise = true};
  const MatrixFigure divided = matrix_view(run, weights);
  EXPECT_THAT(divided.text.badge, HasSubstr("rows divided by the rest"));
  const float rest = 1 - map.cell(50, 0);
  EXPECT_NEAR(divided.weights.matrix<float>()(50, 49), map.cell(50, 49) / rest, 1e-4);
}

TEST(MatrixView, LeavesHiddenColumnsOutOfAShortMap) {
  const fovea::Run run = run_with_sink(30, 3, false);
  const MatrixFigure whole = matrix_view(run, {.head = kFirstHead});
  const MatrixFigure figure =
      matrix_view(run, {.head = kFirstHead, .token = "w9", .column = true, .hide_sinks = true});
  ASSERT_EQ(figure.weights.shape(), (Shape{30, 29}));
  EXPECT_EQ(figure.cols.positions[3].text, "w4");
  EXPECT_EQ(figure.col_place.of(2), 2);
  EXPECT_EQ(figure.col_place.of(3), 4);
  EXPECT_EQ(figure.chosen_col, 8);
  EXPECT_EQ(figure.weights.matrix<float>()(20, 8), whole.weights.matrix<float>()(20, 9));
  EXPECT_THAT(message_of([&] {
                matrix_view(
                    run, {.head = kFirstHead, .token = "w3", .column = true, .hide_sinks = true});
              }),
              HasSubstr("hidden"));
  EXPECT_THAT(message_of([&] {
                matrix_view(run, {.head = {HeadChoice::Kind::kMean, 0},
                                  .of = MapValue::kScore,
                                  .hide_sinks = true});
              }),
              HasSubstr("take no share"));
}

TEST(MapOverview, NamesParagraphsByTheirFirstWords) {
  Axis axis{
      .name = "tokens",
      .source =
          "  One two.\nmore\n\n \n\tThe second   paragraph is much longer, than a name.\n\nx"};
  for (size_t begin = 0; begin < axis.source.size(); begin += 4) {
    axis.positions.push_back(
        {.text = "t",
         .source_begin = static_cast<int64_t>(begin),
         .source_end = static_cast<int64_t>(std::min(begin + 4, axis.source.size()))});
  }
  const std::vector<Paragraph> found = paragraphs_of(axis);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].position, 0);
  EXPECT_EQ(found[0].words, "One two. more");
  EXPECT_EQ(found[1].position, static_cast<int64_t>(axis.source.find("The")) / 4);
  EXPECT_EQ(found[1].words, "The second paragraph…");
  EXPECT_EQ(found[2].words, "x");
  EXPECT_TRUE(paragraphs_of({.name = "tokens"}).empty());
}

TEST(MapOverview, RingsTheStrongestSingleWeightsAwayFromTheDiagonal) {
  fovea::Run run = run_with_sink(200, 0, true);
  // Two rows look far back, one at its neighbour.
  AttentionRecord record = *run.records[0];
  Tensor queries(record.queries.shape());
  std::ranges::copy(record.queries.values<float>(), queries.mutable_values<float>().begin());
  queries.mutable_matrix<float>(0)(150, 40) = 30;
  queries.mutable_matrix<float>(0)(90, 11) = 12;
  record.queries = queries;
  support::AttentionCase c;
  c.shape = record.shape();
  c.queries = queries;
  c.keys = record.keys;
  c.values = record.values;
  c.rule = record.rule;
  run.records = {support::shared_record_of(c)};
  const MatrixFigure none = matrix_view(run, {.head = kFirstHead});
  EXPECT_TRUE(none.overview->needles.empty());
  EXPECT_THAT(none.text.caption, Not(HasSubstr("rings")));
  const MatrixFigure two = matrix_view(run, {.head = kFirstHead, .needles = 40});
  ASSERT_EQ(two.overview->needles.size(), 2U);
  EXPECT_EQ(two.overview->needles[0].row, 150);
  EXPECT_EQ(two.overview->needles[0].col, 40);
  EXPECT_EQ(two.overview->needles[1].row, 90);
  EXPECT_THAT(two.text.caption, HasSubstr("rings: the 2 bins with a single weight of 0.3 or more"));
  const MatrixFigure one = matrix_view(run, {.head = kFirstHead, .needles = 1});
  EXPECT_THAT(one.text.caption, HasSubstr("rings: the 1 strongest of 2 bins"));
}

TEST(MapOverview, HasTopColumnsWithoutSinksTheStrongestFirst) {
  fovea::Run run = run_with_sink(200, 5, false);
  support::AttentionCase c;
  c.shape = run.records[0]->shape();
  c.queries = run.records[0]->queries.clone();
  c.keys = run.records[0]->keys;
  c.values = run.records[0]->values;
  for (int64_t i = 0; i < 200; ++i) {  // some 4 and 5 %, too little for a sink
    c.queries.mutable_matrix<float>(0)(i, 9) = 7.3F;
    c.queries.mutable_matrix<float>(0)(i, 60) = 7.5F;
  }
  run.records = {support::shared_record_of(c)};
  const MatrixFigure figure = matrix_view(run, {.head = kFirstHead});
  ASSERT_EQ(figure.overview->apart.size(), 1U);
  EXPECT_EQ(figure.overview->top_share, 4.0 / 200);
  ASSERT_EQ(figure.overview->top_columns.size(), 2U);
  EXPECT_EQ(figure.overview->top_columns[0].text, "\u2068w60\u2069 60");
  EXPECT_EQ(figure.overview->top_columns[0].place, 60.5);
  EXPECT_EQ(figure.overview->top_columns[1].text, "\u2068w9\u2069 9");
  EXPECT_FALSE(figure.overview->causal);
}

TEST(HeadsView, HasAnOverviewOfAllLayersWithHeadsDown) {
  std::vector<std::string> words(90, "a");
  const fovea::Run run = support::text_run(words, 3, true, 2);
  const HeadsFigure figure = heads_view(run, {.all_layers = true});
  EXPECT_TRUE(figure.overview);
  EXPECT_TRUE(figure.causal);
  EXPECT_EQ(figure.panels_across, 2);
  EXPECT_EQ(figure.panels[1].title, "head 0 · layer 1");
  EXPECT_EQ(figure.panels[2].title, "head 1 · layer 0");
  const MatrixFigure one = matrix_view(run, {.layer = 1, .head = {HeadChoice::Kind::kOne, 2}});
  EXPECT_EQ(one.weights.size(0), 90);
  EXPECT_EQ(figure.panels[5].weights.size(0), 45);
  EXPECT_FALSE(heads_view(run, {.all_layers = true, .exact = true}).overview);
}

TEST(HeadMarks, AreThereForEveryKindAndDiffer) {
  std::set<std::string_view> signs;
  for (const HeadType& type : head_types()) {
    const HeadMark* mark = find_head_mark(type.name);
    ASSERT_NE(mark, nullptr) << type.name;
    EXPECT_EQ(mark->kind, type.name);
    EXPECT_TRUE(signs.insert(mark->sign).second) << type.name;
  }
  EXPECT_EQ(find_head_mark("positional +2")->kind, "positional");
  EXPECT_EQ(find_head_mark("mixed"), nullptr);
  EXPECT_EQ(find_head_mark(""), nullptr);
}

}  // namespace
}  // namespace fovea
