// The pieces that the steps are told with: numbered stages, tables, captions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/cli/steps/problem.h"
#include "fovea/cli/steps/view.h"
#include "fovea/cli/table.h"

namespace fovea {

class StepsWriter {
 public:
  explicit StepsWriter(const Terminal& terminal) : terminal_(terminal) {}

  void title(std::string_view text);
  // Parts joined by " · " and broken into lines where the terminal ends.
  void facts(const std::vector<std::string>& parts);
  void banner(std::string_view text);
  // "3  Scores    s = q · k" and below it one sentence.
  void stage(int number, std::string_view name, std::string_view formula,
             std::string_view explanation);
  void tables(const std::vector<Table>& tables);
  void blocks(const std::vector<TextBlock>& blocks);
  // Parts joined by " · ", as facts() breaks them.
  void caption(std::string_view text);
  // A sentence in the background, in as many lines as it takes.
  void note(std::string_view text);
  void line(std::string_view text);  // as it is
  int columns() const;               // that a drawing may take

  const Terminal& terminal() const { return terminal_; }
  std::string take() { return std::move(text_); }

 private:
  Terminal terminal_;
  std::string text_;
};

// A plain table: rows with labels, columns numbered.
Table vector_table(std::string corner, const Matrix& values,
                   const std::vector<std::string>& labels);
// Only row `row` of a table.
Table only_row(const Table& table, int64_t row);
// A row's weights and the like as the picture's lines and columns, with the chosen pixel marked.
Table picture_table(const PixelGrid& grid, std::span<const double> values, int64_t chosen);

// Labels as they are printed.
std::vector<std::string> printable_labels(const std::vector<std::string>& labels);

// `Row 1 "cat" → what it attends to · head 0 · softmax weight · sum 1.000`, or the same for a
// column.
std::string weights_caption(const StepsProblem& problem, const StepsView& view, int64_t head,
                            double sum);

// The texts of the three kinds of problems, each in a file of its own.
void write_attention(const StepsProblem& problem, const AttentionSteps& steps,
                     const StepsView& view, StepsWriter& writer);
void write_picture(const StepsProblem& problem, const AttentionSteps& steps, const StepsView& view,
                   StepsWriter& writer);
void write_memory(const StepsProblem& problem, const StepsResult& result, const StepsView& view,
                  StepsWriter& writer);

// What the attention and the picture text have in common.
void write_projections(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                       int64_t most_rows, StepsWriter& writer);
void write_outputs(const StepsProblem& problem, const AttentionSteps& steps, const StepsView& view,
                   StepsWriter& writer);
// The formulas and sentences of the stages from scores to softmax.
void scores_stage(const StepsProblem& problem, const StepsView& view, StepsWriter& writer);
void scaled_stage(const StepsProblem& problem, StepsWriter& writer);
void masked_stage(const StepsProblem& problem, StepsWriter& writer);
void softmax_stage(const StepsProblem& problem, StepsWriter& writer);
bool is_scaled(const StepsProblem& problem);  // whether the scale changes anything

}  // namespace fovea
