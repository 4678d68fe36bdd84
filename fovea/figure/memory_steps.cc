// The steps of reading a key-value memory, hard and soft side by side.
#include <fmt/format.h>

#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/figure/vector_steps.h"

namespace fovea {
namespace {

constexpr int64_t kMostQueries = 4;
constexpr double kTemperatures[] = {4, 2, 1, 0.5, 0.25, 0.1, 0};

StepsStage weights_stage(const StepsProblem& problem, const MemoryReading& hard,
                         const MemoryReading& soft) {
  const double temperature = problem.attention.temperature;
  StepsStage stage{
      .number = 3,
      .name = "Weights",
      .formula = temperature == 0
                     ? "hard: 1 for the largest s(j)   soft: temperature 0, the same"
                     : fmt::format("hard: 1 for the largest s(j)   soft: softmax(s{})",
                                   temperature == 1 ? "" : " / " + short_number(temperature)),
      .explanation = "Hard addressing takes the best slot, soft addressing takes some of each.",
      .tables = {}};
  const auto slots = static_cast<int64_t>(soft.scores.size());
  NumberTable table{
      .corner = "",
      .values = Matrix(slots, 3),
      .row_labels = problem.source_labels,
      .col_labels = {"score", "hard", "soft"},
      .formats = {NumberFormat::for_values(soft.scores), NumberFormat::for_values(hard.weights),
                  NumberFormat::for_weights()},
      .bars = soft.weights};
  for (int64_t j = 0; j < slots; ++j) {
    const auto slot = static_cast<size_t>(j);
    table.values(j, 0) = soft.scores[slot];
    table.values(j, 1) = hard.weights[slot];
    table.values(j, 2) = soft.weights[slot];
  }
  stage.tables = {std::move(table)};
  stage.caption = fmt::format("The hard weights sum to 1, the soft ones to {:.3f}.",
                              std::accumulate(soft.weights.begin(), soft.weights.end(), 0.0));
  return stage;
}

StepsStage temperatures_stage(const StepsProblem& problem, std::span<const double> query) {
  std::vector<std::vector<double>> weights;
  std::vector<std::vector<double>> values;
  std::vector<std::string> labels;
  for (const double temperature : kTemperatures) {
    const MemoryReading reading =
        read_soft(*problem.memory, query, problem.attention.similarity, temperature);
    weights.push_back(reading.weights);
    values.push_back(reading.value);
    labels.push_back(temperature == 0 ? "0 (hard)" : short_number(temperature));
  }
  NumberTable table = vector_table("T", Matrix::from_rows(weights), labels);
  table.col_labels = problem.source_labels;
  table.formats = {NumberFormat::for_weights()};
  table.shade_to = 1;
  return {.number = 5,
          .name = "Temperature to 0",
          .formula = "softmax(s / T)",
          .explanation = "The lower T, the sharper; at T = 0 soft addressing is hard addressing.",
          .tables = {std::move(table), vector_table("value", Matrix::from_rows(values), labels)}};
}

}  // namespace

std::vector<StepsStage> memory_stages(const StepsProblem& problem, const StepsResult& result,
                                      const StepsView& view) {
  NumberTable queries = vector_table("query", problem.queries, problem.labels);
  if (view.place) queries = only_row(queries, *view.place);
  std::vector<StepsStage> stages{
      {.number = 1,
       .name = "Query and memory",
       .formula = "a slot holds a value under a key",
       .explanation = "The query is compared with the keys; what is read are the values.",
       .tables = {queries, vector_table("key", problem.memory->keys, problem.source_labels),
                  vector_table("value", problem.memory->values, problem.source_labels)}}};
  const int64_t count = problem.queries.rows();
  for (int64_t i = 0; i < count; ++i) {
    if (view.place ? *view.place != i : i >= kMostQueries) continue;
    const auto index = static_cast<size_t>(i);
    const MemoryReading& hard = result.hard[index];
    const MemoryReading& soft = result.soft[index];
    stages.push_back({.number = 2,
                      .name = "Scores",
                      .formula = fmt::format("s(j) = {}", formula_of(problem.attention.similarity)),
                      .explanation = "How well the query fits the key of each slot.",
                      .tables = {}});
    if (count > 1) {
      stages.back().part = fmt::format("Query {} \"{}\"", i, printable(problem.labels[index]));
    }
    stages.push_back(weights_stage(problem, hard, soft));
    stages.push_back({.number = 4,
                      .name = "Value read",
                      .formula = "Σ weight(j) · value(j)",
                      .explanation = "What comes back: one stored value, or a mixture of all.",
                      .tables = {vector_table("", Matrix::from_rows({hard.value, soft.value}),
                                              {"hard", "soft"})}});
    stages.push_back(temperatures_stage(problem, problem.queries.row(i)));
  }
  if (!view.place && count > kMostQueries) {
    stages.back().caption =
        fmt::format("{} more queries; choose one by its name or number.", count - kMostQueries);
  }
  return stages;
}

}  // namespace fovea
