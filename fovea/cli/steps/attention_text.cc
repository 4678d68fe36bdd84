// The steps of attention over named vectors: all of it, one query's row, or one key's column.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/cli/steps/writer.h"

namespace fovea {
namespace {

constexpr int kWeightBarColumns = 20;

Table cell_table(const StepsProblem& problem, std::string corner, const Matrix& cells) {
  return {.corner = std::move(corner),
          .values = cells,
          .row_labels = printable_labels(problem.labels),
          .col_labels = printable_labels(problem.source_labels),
          .formats = {NumberFormat::for_values(cells.values())}};
}

double largest(std::span<const double> values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

void write_cells(const StepsProblem& problem, const HeadSteps& head, StepsWriter& writer) {
  scores_stage(problem, {}, writer);
  writer.tables({cell_table(problem, "s", head.scores)});
  scaled_stage(problem, writer);
  if (is_scaled(problem)) writer.tables({cell_table(problem, "s", head.scaled)});
  masked_stage(problem, writer);
  if (problem.attention.mask) writer.tables({cell_table(problem, "s", head.masked)});
  softmax_stage(problem, writer);
  Table weights = cell_table(problem, "a", head.weights);
  weights.formats = {NumberFormat::for_weights()};
  weights.shade_to = largest(head.weights.values());
  weights.sums = head.row_sums;
  if (problem.attention.mask) {
    for (int64_t r = 0; r < weights.values.rows(); ++r) {
      for (int64_t c = 0; c < weights.values.cols(); ++c) {
        if ((*problem.attention.mask)(r, c) == 0) weights.values(r, c) = head.masked(r, c);
      }
    }
  }
  writer.tables({weights});
  writer.caption("Read a row: what that query attends to.");
  writer.stage(7, "Weighted sum", "z(i) = Σ a(i,j) v(j)",
               "Each query receives the values, mixed by its weights.");
  writer.tables({vector_table("Z", head.mixed, problem.labels)});
}

// One stage of a row or a column.
struct StageText {
  std::string name;
  std::vector<double> values;
};

// The stages from score to weight, downwards, with a bar for each weight. Those that change nothing
// are left out.
Table cells_down(const StepsProblem& problem, const std::vector<std::string>& labels,
                 std::vector<StageText> stages) {
  if (!problem.attention.mask) stages.erase(stages.begin() + 2);
  if (!is_scaled(problem)) stages.erase(stages.begin() + 1);
  Table table{
      .corner = "",
      .values = Matrix(static_cast<int64_t>(labels.size()), static_cast<int64_t>(stages.size())),
      .row_labels = printable_labels(labels)};
  for (size_t c = 0; c < stages.size(); ++c) {
    table.col_labels.push_back(stages[c].name);
    table.formats.push_back(c + 1 == stages.size() ? NumberFormat::for_weights()
                                                   : NumberFormat::for_values(stages[c].values));
    for (size_t r = 0; r < labels.size(); ++r) {
      table.values(static_cast<int64_t>(r), static_cast<int64_t>(c)) = stages[c].values[r];
    }
  }
  for (const double weight : stages.back().values)
    table.notes.push_back(bar(weight, kWeightBarColumns));
  return table;
}

std::vector<double> row_table(const Matrix& matrix, int64_t row) {
  return {matrix.row(row).begin(), matrix.row(row).end()};
}

// From scores to softmax, told before the table of them all.
void write_score_stages(const StepsProblem& problem, const StepsView& view, StepsWriter& writer) {
  scores_stage(problem, view, writer);
  scaled_stage(problem, writer);
  masked_stage(problem, writer);
  softmax_stage(problem, writer);
}

// One query: what it attends to, and how its weighted sum comes about term by term.
void write_head_row(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                    int64_t head_index, StepsWriter& writer) {
  const int64_t i = *view.place;
  write_score_stages(problem, view, writer);
  writer.tables({cells_down(problem, problem.source_labels,
                            {{"score", row_table(head.scores, i)},
                             {"scaled", row_table(head.scaled, i)},
                             {"masked", row_table(head.masked, i)},
                             {"weight", row_table(head.weights, i)}})});
  writer.caption(weights_caption(problem, view, head_index, head.row_sums[static_cast<size_t>(i)]));

  writer.stage(7, "Weighted sum", "z = Σ a(j) v(j)",
               "Every key gives its value times its weight; the last line is their sum.");
  const int64_t keys = head.weights.cols();
  Matrix terms(keys + 1, head.v.cols() + 1);
  for (int64_t j = 0; j < keys; ++j) {
    terms(j, 0) = head.weights(i, j);
    for (int64_t c = 0; c < head.v.cols(); ++c) terms(j, c + 1) = head.weights(i, j) * head.v(j, c);
  }
  terms(keys, 0) = head.row_sums[static_cast<size_t>(i)];
  for (int64_t c = 0; c < head.v.cols(); ++c) terms(keys, c + 1) = head.mixed(i, c);
  std::vector<std::string> rows = printable_labels(problem.source_labels);
  rows.emplace_back("z");
  std::vector<std::string> columns{"a"};
  for (int64_t c = 0; c < head.v.cols(); ++c) columns.push_back(fmt::format("a·v {}", c));
  std::vector<NumberFormat> formats(static_cast<size_t>(head.v.cols()) + 1,
                                    NumberFormat::for_values(terms.values()));
  formats.front() = NumberFormat::for_weights();
  writer.tables({Table{.corner = "",
                       .values = terms,
                       .row_labels = rows,
                       .col_labels = columns,
                       .formats = formats,
                       .rule_above_last = true}});
}

void write_head_column(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                       int64_t head_index, StepsWriter& writer) {
  const int64_t j = *view.place;
  write_score_stages(problem, view, writer);
  const std::vector<double> weights = head.weights.column(j);
  writer.tables({cells_down(problem, problem.labels,
                            {{"score", head.scores.column(j)},
                             {"scaled", head.scaled.column(j)},
                             {"masked", head.masked.column(j)},
                             {"weight", weights}})});
  writer.caption(weights_caption(problem, view, head_index,
                                 std::accumulate(weights.begin(), weights.end(), 0.0)));
}

}  // namespace

void write_attention(const StepsProblem& problem, const AttentionSteps& steps,
                     const StepsView& view, StepsWriter& writer) {
  const AttentionProblem& attention = problem.attention;
  writer.stage(1, "Inputs", attention.source ? "x asks, u answers" : "x asks and answers",
               "One vector per row.");
  std::vector<Table> inputs{vector_table("X", attention.inputs, problem.labels)};
  if (attention.source) {
    inputs.push_back(vector_table("U", *attention.source, problem.source_labels));
  }
  writer.tables(inputs);
  for (int64_t h = 0; h < attention.heads; ++h) {
    if (view.head && *view.head != h) continue;
    const HeadSteps& head = steps.heads[static_cast<size_t>(h)];
    if (attention.heads > 1) writer.banner(fmt::format("Head {}", h));
    write_projections(problem, head, view, 16, writer);
    if (!view.place) {
      write_cells(problem, head, writer);
    } else if (view.column) {
      write_head_column(problem, head, view, h, writer);
    } else {
      write_head_row(problem, head, view, h, writer);
    }
  }
  if (!view.column) write_outputs(problem, steps, view, writer);
}

}  // namespace fovea
