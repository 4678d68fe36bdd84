// Rules that no model of the tests has.
#include "fovea/figure/model_steps_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pointwise;
using testing::StartsWith;

// Three tokens, one head of two numbers, and the LSE of `rule` computed naively.
ModelStepsView view_of(const ScoreRule& rule, int64_t row = 1) {
  auto record = std::make_shared<AttentionRecord>();
  record->queries = Tensor::from<float>({1, 3, 2}, std::vector<float>{1, 2, 0, 1, 2, -1});
  record->keys = Tensor::from<float>({1, 3, 2}, std::vector<float>{1, 0, 1, 1, -1, 2});
  record->values = Tensor::from<float>({1, 3, 2}, std::vector<float>{1, 0, 0, 1, 2, 2});
  record->rule = rule;
  record->lse = Tensor({1, 3}, DType::kF64);
  for (int64_t i = 0; i < 3; ++i) {
    double sum = rule.sink_logit.empty() ? 0 : std::exp(double{rule.sink_logit[0]});
    for (int64_t j = 0; j < 3; ++j) {
      sum += std::exp(reference_score(rule, record->shape(), 0, i, j,
                                      {record->queries.matrix<float>(0).row(i), 2},
                                      {record->keys.matrix<float>(0).row(j), 2}));
    }
    record->lse.mutable_matrix<double>()(0, i) = sum > 0 ? std::log(sum) : 0;
  }
  ModelStepsView view;
  view.cols = {.name = "tokens",
               .source = "a\x1b[2J b",
               .positions = {{.text = "[CLS]", .special = true},
                             {.text = "a\x1b[2J", .source_begin = 0, .source_end = 5},
                             {.text = "b", .source_begin = 6, .source_end = 7}}};
  view.rows = view.cols;
  view.run = {.model = "folder/tiny", .axes = {view.cols}, .records = {record}};
  view.rule = rule;
  view.steps = model_steps(record, 0, row);
  return view;
}

// What the stage says: its formula and its sentence.
std::string told(const StepsFigure& figure, std::string_view name) {
  const auto stage = std::ranges::find(figure.stages, name, &StepsStage::name);
  return stage == figure.stages.end() ? "" : stage->formula + "; " + stage->explanation;
}

std::vector<std::string> names_of_stages(const StepsFigure& figure) {
  std::vector<std::string> names;
  for (const StepsStage& stage : figure.stages) names.push_back(stage.name);
  return names;
}

// The one column of a stage.
std::vector<double> column_of(const StepsFigure& figure, std::string_view name) {
  return std::ranges::find(figure.stages, name, &StepsStage::name)->tables[0].values.column(0);
}

TEST(ModelSteps, BiasAndSoftCapHaveStagesOfTheirOwn) {
  const StepsFigure figure =
      model_steps_figure(view_of({.scale = 0.25F, .bias = AlibiSlopes{{0.5F}}, .soft_cap = 3}));
  EXPECT_THAT(names_of_stages(figure),
              ElementsAre("Query", "Keys", "Products", "Scores", "Scaled", "Biased", "Capped",
                          "Softmax", "Values", "Weighted sum"));
  EXPECT_THAT(told(figure, "Scaled"), StartsWith("0.25 · s; "));
  EXPECT_THAT(told(figure, "Biased"), AllOf(StartsWith("s + bias; Added"), HasSubstr("(ALiBi)")));
  EXPECT_THAT(told(figure, "Capped"), StartsWith("3 · tanh(s / 3); "));
  // q is 0,1; the keys are 1,0 and 1,1 and -1,2; the distances 1, 0 and 1.
  EXPECT_THAT(column_of(figure, "Scores"), ElementsAre(0, 1, 2));
  EXPECT_THAT(column_of(figure, "Scaled"), ElementsAre(0, 0.25, 0.5));
  EXPECT_THAT(column_of(figure, "Biased"), ElementsAre(-0.5, 0.25, 0));
  EXPECT_THAT(column_of(figure, "Capped"),
              Pointwise(DoubleEq(), {3 * std::tanh(-0.5 / 3), 3 * std::tanh(0.25 / 3), 0.0}));
}

TEST(ModelSteps, ABiasAloneIsNotCapped) {
  const StepsFigure figure = model_steps_figure(view_of({.bias = AlibiSlopes{{1}}}));
  EXPECT_THAT(names_of_stages(figure), AllOf(Contains("Biased"), Not(Contains("Capped"))));
  EXPECT_THAT(column_of(figure, "Biased"), ElementsAre(-1, 1, 1));
}

TEST(ModelSteps, TellOfASinkAndOfPadding) {
  const StepsFigure figure =
      model_steps_figure(view_of({.mask = {.key_valid = {1, 1, 0}}, .sink_logit = {1.5F}}));
  EXPECT_THAT(told(figure, "Softmax"), HasSubstr("A sink of score 1.500 takes the rest."));
  EXPECT_THAT(told(figure, "Masked"), HasSubstr("-∞ where j is padding"));
  EXPECT_THAT(told(figure, "Masked"), HasSubstr("1 of 3, \"b\"."));
}

TEST(ModelSteps, ARowThatSeesNothingIsTold) {
  const StepsFigure figure = model_steps_figure(view_of({.mask = {.key_valid = {0, 0, 0}}}));
  EXPECT_THAT(told(figure, "Masked"), HasSubstr("sees no token"));
  EXPECT_THAT(figure.text.caption, HasSubstr("sum 0.00"));
}

TEST(ModelSteps, ControlCharactersOfTokensAreShownAsSigns) {
  const StepsFigure figure = model_steps_figure(view_of({}));
  for (const StepsStage& stage : figure.stages) {
    for (const NumberTable& table : stage.tables) {
      EXPECT_THAT(table.row_labels, Each(Not(HasSubstr("\x1b")))) << stage.name;
    }
  }
}

TEST(ModelSteps, TheChosenTokenIsMarkedAndEveryStageHasItsNumber) {
  const StepsFigure figure = model_steps_figure(view_of({}, 2));
  for (size_t i = 0; i < figure.stages.size(); ++i) {
    EXPECT_EQ(figure.stages[i].number, static_cast<int>(i) + 1);
  }
  EXPECT_EQ(figure.stages[1].tables[0].marked_row, 2);
  EXPECT_THAT(figure.checks, ElementsAre(HasSubstr("equal to the captured map within")));
}

TEST(ModelSteps, HaveAStageMoreWhereThereIsAMaskABiasOrACap) {
  for (const ScoreRule& rule :
       {ScoreRule{}, ScoreRule{.bias = AlibiSlopes{{1}}}, ScoreRule{.mask = Mask::causal()},
        ScoreRule{.soft_cap = 2}, ScoreRule{.mask = {.key_valid = {0, 0, 0}}}}) {
    const StepsFigure figure = model_steps_figure(view_of(rule));
    const bool plain = rule.mask.range_only() && !rule.mask.ahead && rule.soft_cap == 0 &&
                       std::holds_alternative<std::monostate>(rule.bias);
    EXPECT_EQ(figure.stages.size(), plain ? 8U : 9U);
  }
}

}  // namespace
}  // namespace fovea
