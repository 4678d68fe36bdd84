// Steps of vectors that a user chose, the axis of colours, and a translation's links as figures.
#include "fovea/figure/vector_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/figure/align_view.h"
#include "fovea/figure/color_axis.h"
#include "support/errors.h"
#include "unit/explain/cross_records.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two vectors, of which only the second may see both.
constexpr std::string_view kTwo = R"({"labels": ["a", "b"], "inputs": [[1, 0], [0, 2]],
  "mask": "causal", "scale": 1})";

std::vector<std::string> stage_names(const StepsFigure& figure) {
  std::vector<std::string> names;
  for (const StepsStage& stage : figure.stages) names.push_back(stage.name);
  return names;
}

TEST(VectorSteps, GoFromTheVectorsToTheOutput) {
  const StepsProblem problem = parse_steps(kTwo, "two.json");
  const StepsFigure figure = vector_steps_figure(problem, compute_steps(problem), {});
  EXPECT_EQ(figure.text.title, "Attention, step by step");
  EXPECT_THAT(figure.facts[0], HasSubstr("two.json · self-attention of 2 vectors · 1 head"));
  EXPECT_THAT(stage_names(figure),
              ElementsAre("Inputs", "Query, key, value", "Scores", "Scaled", "Masked", "Softmax",
                          "Weighted sum", "Heads joined", "Output"));
  const NumberTable& weights = figure.stages[5].tables[0];
  EXPECT_DOUBLE_EQ(weights.values(0, 0), 1);
  EXPECT_TRUE(std::isinf(weights.values(0, 1)));  // hidden
  EXPECT_NEAR(weights.values(1, 1), 1 / (1 + std::exp(-4)), 1e-12);
  EXPECT_THAT(weights.sums, ElementsAre(1, testing::DoubleEq(1)));
}

TEST(VectorSteps, OfOneRowStandInColumnsThatEndInTheWeight) {
  const StepsProblem problem = parse_steps(kTwo, "two.json");
  const StepsFigure figure = vector_steps_figure(problem, compute_steps(problem), {.place = 1});
  const NumberTable& line = figure.stages[5].tables[0];
  EXPECT_THAT(line.col_labels, ElementsAre("score", "masked", "weight"));
  EXPECT_EQ(line.bars, line.values.column(2));
  EXPECT_THAT(figure.stages[5].caption, HasSubstr("Row 1 \"b\" → what it attends to"));
  const StepsFigure column =
      vector_steps_figure(problem, compute_steps(problem), {.place = 0, .column = true});
  EXPECT_THAT(column.stages.back().caption, HasSubstr("Column 0 \"a\" ← who attends to it"));
}

TEST(VectorSteps, TheirWeightsAloneAreAMapWithoutWhatIsHidden) {
  const StepsProblem problem = parse_steps(kTwo, "two.json");
  const auto figure =
      std::get<MatrixFigure>(vector_weights_figure(problem, compute_steps(problem), {}));
  EXPECT_TRUE(std::isnan(figure.weights.matrix<float>()(0, 1)));
  EXPECT_EQ(figure.cols.positions[1].text, "b");
  EXPECT_THAT(figure.text.caption, HasSubstr("1 head · scaled dot product · softmax weight"));
}

TEST(VectorSteps, OfAMemoryHardAndSoftStandSideBySide) {
  const StepsProblem problem = parse_steps(
      R"({"labels": ["q"], "source_labels": ["x", "y"], "query": [1, 0],
          "memory": {"keys": [[1, 0], [0, 1]], "values": [[1], [3]]}})",
      "memory.json");
  const StepsResult result = compute_steps(problem);
  const StepsFigure figure = vector_steps_figure(problem, result, {});
  EXPECT_THAT(figure.facts[0], HasSubstr("1 query against a memory of 2 slots"));
  EXPECT_EQ(figure.stages[2].tables[0].values(0, 1), 1);
  EXPECT_EQ(figure.stages[2].tables[0].bars, result.soft[0].weights);
  EXPECT_EQ(std::get<MatrixFigure>(vector_weights_figure(problem, result, {})).weights.shape(),
            (Shape{2, 2}));
}

TEST(ColorAxis, PlacesValuesOnTheirRange) {
  const ColorAxis axis(inferno(), {0, 0.5});
  EXPECT_DOUBLE_EQ(axis.position(0.25), 0.5);
  EXPECT_EQ(axis.at(0.5), inferno().at(1));
  EXPECT_DOUBLE_EQ(ColorAxis(color_map("RdBu"), {-1, 3}).low(), -3);
  EXPECT_DOUBLE_EQ(ColorAxis(inferno(), {2, 2}).high(), 3);
  EXPECT_THAT(message_of([] { ColorAxis(inferno(), {1, 0}); }), HasSubstr("from 1 to 0"));
}

TEST(ColorAxis, HasRoundNumbersWithAsFewDigitsAsTellThemApart) {
  EXPECT_THAT(round_ticks(0, 1, 5),
              testing::Pointwise(testing::DoubleNear(1e-12),
                                 std::vector<double>{0, 0.2, 0.4, 0.6, 0.8, 1}));
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(-2, 1), "−2");
  EXPECT_EQ(tick_text(1e-9, 1e-9), "1.0e-09");
}

TEST(AlignView, MarksLinksAndSaysWhichMapItIs) {
  const fovea::Run run{.model = "models/en-fr",
                       .axes = {samples::words({"a", "cat"}, "source"),
                                samples::words({"[START]", "un", "chat"}, "target")}};
  const PairMaps pair{.layers = {support::aimed_layer(2, {{0, 0, 1}}, 2)},
                      .source = PieceWords::from({0, 1}),
                      .target = PieceWords::from({0, 1})};
  const MapChoice choice{.layer = 2, .head = 0, .reading = TargetReading::kOutput};
  const AlignFigure figure = align_view(run, pair, choice, {}, {.pieces = true});
  EXPECT_EQ(figure.target.positions[0].text, "un");
  EXPECT_EQ(figure.weights.shape(), (Shape{2, 2}));
  EXPECT_THAT(figure.text.caption, AllOf(HasSubstr("layer 2, head 0"), HasSubstr("marked: links")));
  const AlignFigure hard = align_view(run, pair, choice, {}, {.pieces = true, .hard = true});
  EXPECT_EQ(hard.value_name, "link");
  ASSERT_FALSE(hard.links.empty());
  EXPECT_EQ(hard.weights.matrix<float>()(hard.links[0].row, hard.links[0].col), 1);
}

}  // namespace
}  // namespace fovea
