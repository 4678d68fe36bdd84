// Steps with their tables of numbers, and tables of words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fovea/base/error.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/figure/model_steps_view.h"
#include "support/runs.h"
#include "unit/cli/drawn_text.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// One token of a causal text, each key of 16 numbers.
StepsFigure steps_of(const std::vector<std::string>& words, int64_t row) {
  fovea::Run run = support::text_run(words, 1, true);
  ModelStepsView view{.rows = run.axes[0], .cols = run.axes[0], .rule = run.records[0]->rule};
  view.steps = model_steps(run.records[0], 0, row);
  view.run = std::move(run);
  return model_steps_figure(view);
}

TEST(DrawSteps, TheShownProductsAndTheRestAreTheScore) {
  const StepsFigure figure = steps_of({"a", std::string(14, 'w'), "b"}, 2);
  for (const int width : {40, 60, 80, 120}) {
    const std::string text = draw(figure, {.width = width}, inferno());
    const std::vector<std::string> lines = lines_of(text.substr(text.find("Products")));
    int rows = 0;
    for (const std::string& line : lines) {
      const size_t bar = line.find("│");
      if (line.find("Scores") != std::string::npos) break;
      if (bar == std::string::npos || line.find("rest") != std::string::npos) continue;
      std::istringstream before(line.substr(0, bar)), behind(line.substr(bar + 3));
      double shown = 0, rest = 0, sum = 0;
      for (std::string word; before >> word;) {
        if (word.find('.') != std::string::npos) shown += std::stod(word);
      }
      behind >> rest >> sum;
      EXPECT_NEAR(shown + rest, sum, 8 * 0.0005) << width << line;
      ++rows;
    }
    EXPECT_EQ(rows, 3) << text;
  }
}

TEST(DrawSteps, FitTheTerminalWhateverTheLabelsAndTheMask) {
  std::vector<std::string> words;
  for (int i = 0; i < 6; ++i) words.push_back(std::string(13, 'w') + std::to_string(i));
  const StepsFigure figure = steps_of(words, 3);
  for (const ColorMode mode : kModes) {
    for (const int width : {40, 60, 80}) {
      const std::string text = draw(figure, {.width = width, .colors = mode}, inferno());
      EXPECT_EQ(text.find('\x1b') == std::string::npos, mode == ColorMode::kNone);
      for (const std::string& line : lines_of(text)) {
        // No style goes on into the next line.
        EXPECT_EQ(line.rfind("\x1b["), line.rfind("\x1b[0m")) << line;
        EXPECT_LE(display_width(without_colors(line)), width) << line;
      }
    }
  }
  // Rather a number than its bar.
  const std::string narrow = draw(figure, {.width = 60}, inferno());
  EXPECT_THAT(narrow, AllOf(HasSubstr("scores  scaled  masked  softmax\n"), HasSubstr("  hidden\n"),
                            Not(HasSubstr("█"))));
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()), HasSubstr("  ██████████"));
}

TEST(DrawSteps, CannotBeSteeredByAnyOfTheirTexts) {
  const std::string bad = "a\x1b[31m\u202e\tb\n\u2068c\u2069 \u2069";
  StepsFigure figure = samples::steps();
  figure.text = {.title = bad, .caption = bad, .badge = bad};
  figure.facts = figure.checks = {bad};
  for (StepsStage& stage : figure.stages) {
    stage.name = stage.formula = stage.explanation = stage.caption = stage.part = bad;
    for (NumberTable& table : stage.tables) {
      table.corner = table.row_labels[0] = table.col_labels[0] = bad;
      table.notes.assign(table.row_labels.size(), bad);
    }
  }
  const std::string text = draw(figure, {.width = 80}, inferno());
  for (const char* sign : {"\x1b", "\u202e", "\t", "\u2069 \u2069"}) {
    EXPECT_THAT(text, Not(HasSubstr(sign)));
  }
}

TEST(DrawSteps, WhatRunsFromTheRightStaysIsolated) {
  StepsFigure figure = samples::steps();
  figure.text.title = "\"" + isolated("قط") + "\" step by step";
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()),
              testing::StartsWith("\"\u2068قط\u2069\" step by step\n"));
}

TEST(DrawSteps, RefuseTablesWhosePartsDoNotFit) {
  StepsFigure figure = samples::steps();
  figure.stages[1].tables[0].notes = {"one of three"};
  EXPECT_THROW(draw(figure, Terminal{}, inferno()), Error);
}

TEST(DrawTable, EndsNumbersInOneColumnAndKeepsMarksBehind) {
  const std::string text = draw(samples::table(), Terminal{.width = 80}, inferno());
  EXPECT_THAT(text, HasSubstr("method      deletion   found"));
  EXPECT_THAT(text, HasSubstr("  rollout       0.29+  0.85  █████████████████     better"));
  EXPECT_THAT(text, HasSubstr("  raw           0.61   0.40  ████████              no better"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("of attention\n"), EndsWith("+ better than random numbers.\n")));
}

TEST(DrawTable, PutsWhatDoesNotFitIntoFurtherBlocksAndBreaksWords) {
  TableFigure figure = samples::table();
  for (int i = 0; i < 12; ++i) figure.columns.push_back({.name = "more " + std::to_string(i)});
  figure.rows[1].cells[2].text =
      "a verdict that is 長い 長い and needs more than one line " + std::string(60, 'w');
  for (const ColorMode mode : kModes) {
    for (const int width : {20, 40, 80}) {
      const std::string text = draw(figure, Terminal{width, mode}, inferno());
      for (const std::string& line : lines_of(without_colors(text))) {
        EXPECT_LE(display_width(line), width) << line;
      }
      EXPECT_THAT(text, AllOf(HasSubstr("more 0"), HasSubstr("more 11")));
    }
  }
}

TEST(DrawTable, WithoutColumnsItHasItsLabelsAndWithoutRowsOneEmptyLine) {
  const TableFigure figure{.text = {.title = "title", .caption = "caption"},
                           .rows = {{.label = "one"}, {.label = "two"}}};
  EXPECT_EQ(draw(figure, Terminal{}, inferno()), "title\n\none\ntwo\n\ncaption\n");
  EXPECT_EQ(draw(TableFigure{.text = figure.text}, Terminal{}, inferno()), "title\n\ncaption\n");
}

TEST(DrawTable, RefusesARowWithMoreCellsThanColumns) {
  TableFigure figure = samples::table();
  figure.columns.pop_back();
  EXPECT_THROW(draw(figure, Terminal{}, inferno()), Error);
}

}  // namespace
}  // namespace fovea
