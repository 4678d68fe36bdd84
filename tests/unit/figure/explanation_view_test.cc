// Explanations and their grades as figures.
#include "fovea/figure/explanation_view.h"

#include <gmock/gmock.h>

#include <limits>

#include "fovea/figure/faithfulness_view.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Asked {
  Run run;
  Method method;
  Explanation explanation;

  Asked() {
    run.model = "models/small";
    method.name = "rollout";
    method.needs.position = true;
    explanation.axis = samples::words({"[CLS]", "a", "cat"});
    explanation.scores = {0.5, 0.125, 0.375};
    explanation.row = 0;
    explanation.measures = "rolled-out attention";
  }
  ExplanationView view() const {
    return {.run = run,
            .method = method,
            .explanation = explanation,
            .position_name = "seen from [CLS]"};
  }
};

TEST(ExplanationFigure, OfATextIsTheTextShadedUpToTheLargestOther) {
  const Asked asked;
  const auto figure = std::get<ReadFigure>(explanation_figure(asked.view()));
  EXPECT_EQ(figure.text.title, "small · rollout · seen from [CLS]");
  EXPECT_THAT(figure.text.caption, HasSubstr("row 0: seen from [CLS] · self-attention · sum 1.00"));
  EXPECT_EQ(figure.chosen, 0);
  EXPECT_DOUBLE_EQ(figure.scale.high, 0.375);  // not that of the position asked from
  EXPECT_EQ(figure.weights, (std::vector<float>{0.5F, 0.125F, 0.375F}));
}

TEST(ExplanationFigure, WithSignsReachesAsFarBelowZeroAsAbove) {
  Asked asked;
  asked.explanation.is_signed = true;
  asked.explanation.scores = {0, -0.25, 0.125};
  ExplanationView view = asked.view();
  view.answer = "class cat rather than class dog";
  const auto figure = std::get<ReadFigure>(explanation_figure(view));
  EXPECT_DOUBLE_EQ(figure.scale.low, -0.25);
  EXPECT_DOUBLE_EQ(figure.scale.high, 0.25);
  EXPECT_EQ(figure.text.title, "small · rollout · class cat rather than class dog");
  EXPECT_THAT(figure.text.caption, Not(HasSubstr("sum")));
}

TEST(ExplanationFigure, OfHeadsIsAGridOfLayersAndHeads) {
  Asked asked;
  asked.explanation.axis = heads_axis(2, 3);
  asked.explanation.scores = {1, 2, 3, 4, 5, 6};
  asked.explanation.row = {};
  const auto figure = std::get<MatrixFigure>(explanation_figure(asked.view()));
  EXPECT_EQ(figure.weights.shape(), (Shape{2, 3}));
  EXPECT_EQ(figure.row_title, "layer");
  EXPECT_EQ(figure.col_title, "head");
  EXPECT_FLOAT_EQ(figure.weights.values<float>()[5], 6);
}

TEST(ExplanationFigure, OfAPictureLeavesSpecialTokensOutOfTheMapAndOfTheScale) {
  Asked asked;
  asked.explanation.axis = {.name = "patches", .grid_rows = 1, .grid_cols = 2};
  asked.explanation.axis.positions = {
      {.text = "[CLS]", .special = true}, {.text = "patch 0,0"}, {.text = "patch 0,1"}};
  const Picture picture(16, 8);
  const PatchGrid grid = PatchGrid::of_patches({{16, 8}, {16, 8}, {16, 8}}, 8);
  ExplanationView view = asked.view();
  view.picture = &picture;
  view.grid = &grid;
  const auto figure = std::get<ImageFigure>(explanation_figure(view));
  ASSERT_EQ(figure.panels.size(), 1U);
  EXPECT_EQ(figure.panels[0].weights.shape(), (Shape{1, 2}));
  EXPECT_THAT(figure.text.caption, HasSubstr("0.50 on [CLS]"));
  // 0.125 and 0.375 of 1 among 3 positions.
  EXPECT_FLOAT_EQ(figure.panels[0].weights.values<float>()[0], 0.375F);
  EXPECT_FLOAT_EQ(figure.panels[0].weights.values<float>()[1], 1.125F);
  EXPECT_TRUE(figure.scale.times_even);
  EXPECT_DOUBLE_EQ(figure.scale.high, 8);
  EXPECT_EQ(figure.panels[0].note, "half in 1, 90 % in 2 of 2");
  EXPECT_EQ(figure.value_name, "rolled-out attention, times even");
}

TEST(ExplanationFigure, WithSignsOverAPictureIsColouredByItsSize) {
  Asked asked;
  asked.explanation.is_signed = true;
  asked.explanation.row = {};
  asked.explanation.axis = {.name = "patches", .grid_rows = 1, .grid_cols = 4};
  for (const char* name : {"patch 0,0", "patch 0,1", "patch 0,2", "patch 0,3"}) {
    asked.explanation.axis.positions.push_back({.text = name});
  }
  asked.explanation.scores = {4, -1, 0.5, -0.5};
  const Picture picture(32, 8);
  const PatchGrid grid = PatchGrid::of_patches({{32, 8}, {32, 8}, {32, 8}}, 8);
  ExplanationView view = asked.view();
  view.picture = &picture;
  view.grid = &grid;
  const auto figure = std::get<ImageFigure>(explanation_figure(view));
  EXPECT_DOUBLE_EQ(figure.scale.least, 1.5);  // the mean size
  EXPECT_DOUBLE_EQ(figure.scale.high, 48);
  EXPECT_DOUBLE_EQ(figure.contour_mass, 0);
  EXPECT_EQ(colors_of(figure).name(), "ice-fire");
  EXPECT_THAT(figure.text.caption,
              HasSubstr("warm: speaks for it, cold: against · sum +3: +4.5 and −1.5"));
}

FaithfulnessCard sample_card() {
  FaithfulnessCard card;
  for (CardLine& line : card.lines) {
    line = {.value = 0.25, .random = {.mean = 0.5, .low = 0.375, .high = 0.625}};
    line.verdict = Verdict::kNoBetter;
  }
  card.lines[0].verdict = Verdict::kBetter;
  card.lines[5].missing = "there is no slope";
  card.clean = 0.75;
  card.positions = 2;
  return card;
}

TEST(FaithfulnessCard, IsATableThatSaysWhatIsMissingAndWhy) {
  const Asked asked;
  const FaithfulnessCard card = sample_card();
  const TableFigure table = card_table({.card = card,
                                        .axis = asked.explanation.axis,
                                        .model = "small",
                                        .method = "rollout",
                                        .answer = "class cat"});
  ASSERT_EQ(table.rows.size(), kGradeKinds);
  EXPECT_EQ(table.rows[0].cells[0].text, "0.250");
  EXPECT_EQ(table.rows[0].cells[2].text, "0.375 to 0.625");
  EXPECT_EQ(table.rows[0].cells[3].tone, TableTone::kStrong);
  EXPECT_EQ(table.rows[1].cells[3].tone, TableTone::kMuted);
  EXPECT_EQ(table.rows[5].cells[0].text, "–");
  EXPECT_THAT(table.notes, testing::ElementsAre(HasSubstr("there is no slope")));
  EXPECT_THAT(table.text.caption, HasSubstr("probability of class cat: 0.750"));
}

TEST(FaithfulnessComparison, HasARowForEachGradedMethodAndOneForRandomNumbers) {
  MethodComparison comparison{.model = "models/small", .answer = "class cat", .inputs = 1};
  ComparedMethod graded{.name = "raw", .cards = {sample_card()}};
  graded.mean[0] = {.value = {.mean = -0.001, .low = -0.001, .high = -0.001},
                    .verdict = Verdict::kBetter};
  graded.mean[1].value.mean = std::numeric_limits<double>::quiet_NaN();
  comparison.methods = {graded, {.name = "flow", .reason = "flow takes 64 tokens at most"}};
  comparison.random[0] = {.mean = 0.5, .low = -0.25, .high = 0.75};
  const TableFigure table = comparison_table(comparison);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[0].text, "0.00");  // without a sign
  EXPECT_EQ(table.rows[0].cells[0].mark, "+");
  EXPECT_EQ(table.rows[0].cells[1].text, "–");
  EXPECT_TRUE(table.rows[1].total);
  EXPECT_EQ(table.rows[1].cells[0].range, "-.25–.75");
  EXPECT_THAT(table.notes, testing::ElementsAre("flow takes 64 tokens at most"));
}

}  // namespace
}  // namespace fovea
