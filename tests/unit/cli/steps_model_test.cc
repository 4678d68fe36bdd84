// Rules that no model of the tests has, told as text and drawn as a figure.
#include "fovea/cli/steps/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

using testing::HasSubstr;
using testing::Not;

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

std::string text_of(const ModelStepsView& view) {
  return model_steps_text(view, {.width = 80, .colors = ColorMode::kNone});
}

TEST(ModelStepsText, TellsBiasAndSoftCap) {
  const std::string text =
      text_of(view_of({.scale = 0.25F, .bias = AlibiSlopes{{0.5F}}, .soft_cap = 3}));
  EXPECT_THAT(text, HasSubstr("0.25 · s + bias,  then 3 · tanh(s / 3)"));
  EXPECT_THAT(text, HasSubstr("(ALiBi)"));
  EXPECT_THAT(text, HasSubstr("score  scaled  bias  capped  weight"));
}

TEST(ModelStepsText, TellsOfASinkAndOfPadding) {
  const std::string text =
      text_of(view_of({.mask = {.key_valid = {1, 1, 0}}, .sink_logit = {1.5F}}));
  EXPECT_THAT(text, HasSubstr("a sink of score 1.500"));
  EXPECT_THAT(text, HasSubstr("-∞ where j is padding"));
  EXPECT_THAT(text, HasSubstr("1 of 3, \"b\"."));
}

TEST(ModelStepsText, ARowThatSeesNothingIsTold) {
  const std::string text = text_of(view_of({.mask = {.key_valid = {0, 0, 0}}}));
  EXPECT_THAT(text, HasSubstr("sees no token"));
  EXPECT_THAT(text, HasSubstr("sum 0.00"));
}

TEST(ModelStepsText, ControlCharactersOfTokensDoNotReachTheTerminal) {
  EXPECT_THAT(text_of(view_of({})), Not(HasSubstr("\x1b")));
}

TEST(ModelStepsFigure, DrawsWhateverTheRule) {
  for (const ScoreRule& rule :
       {ScoreRule{}, ScoreRule{.bias = AlibiSlopes{{1}}}, ScoreRule{.mask = Mask::causal()},
        ScoreRule{.soft_cap = 2}, ScoreRule{.mask = {.key_valid = {0, 0, 0}}}}) {
    const StepsFigure figure = model_steps_figure(view_of(rule));
    EXPECT_EQ(figure.stages.size(), rule.mask.range_only() && !rule.mask.ahead ? 8U : 9U);
    EXPECT_FALSE(encode_figure(FigureFormat::kSvg, figure).bytes.empty());
  }
}

}  // namespace
}  // namespace fovea
