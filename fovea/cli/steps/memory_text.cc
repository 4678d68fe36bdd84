// The steps of reading a key-value memory, hard and soft side by side.
#include <fmt/format.h>

#include "fovea/cli/steps/writer.h"

namespace fovea {
namespace {

constexpr int kMemoryBarColumns = 20;
constexpr int64_t kMostQueries = 4;
constexpr double kTemperatures[] = {4, 2, 1, 0.5, 0.25, 0.1, 0};

void write_addressing(const StepsProblem& problem, const MemoryReading& hard,
                      const MemoryReading& soft, StepsWriter& writer) {
  const std::string over = problem.attention.temperature == 1
                               ? ""
                               : fmt::format(" / {}", short_number(problem.attention.temperature));
  writer.stage(2, "Scores", fmt::format("s(j) = {}", formula_of(problem.attention.similarity)),
               "How well the query fits the key of each slot.");
  writer.stage(3, "Weights",
               problem.attention.temperature == 0
                   ? "hard: 1 for the largest s(j)   soft: temperature 0, the same"
                   : fmt::format("hard: 1 for the largest s(j)   soft: softmax(s{})", over),
               "Hard addressing takes the best slot, soft addressing takes some of each.");
  const auto slots = static_cast<int64_t>(soft.scores.size());
  Matrix values(slots, 3);
  for (int64_t j = 0; j < slots; ++j) {
    const auto slot = static_cast<size_t>(j);
    values(j, 0) = soft.scores[slot];
    values(j, 1) = hard.weights[slot];
    values(j, 2) = soft.weights[slot];
  }
  Table table{.corner = "",
              .values = values,
              .row_labels = printable_labels(problem.source_labels),
              .col_labels = {"score", "hard", "soft"},
              .formats = {NumberFormat::for_values(soft.scores),
                          NumberFormat::for_values(hard.weights), NumberFormat::for_weights()}};
  for (const double weight : soft.weights) table.notes.push_back(bar(weight, kMemoryBarColumns));
  writer.tables({table});
  double sum = 0;
  for (const double weight : soft.weights) sum += weight;
  writer.caption(fmt::format("The hard weights sum to 1, the soft ones to {:.3f}.", sum));

  writer.stage(4, "Value read", "Σ weight(j) · value(j)",
               "What comes back: one stored value, or a mixture of all.");
  writer.tables({vector_table("", Matrix::from_rows({hard.value, soft.value}), {"hard", "soft"})});
}

void write_temperatures(const StepsProblem& problem, std::span<const double> query,
                        StepsWriter& writer) {
  writer.stage(5, "Temperature to 0", "softmax(s / T)",
               "The lower T, the sharper; at T = 0 soft addressing is hard addressing.");
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
  Table table = vector_table("T", Matrix::from_rows(weights), labels);
  table.col_labels = printable_labels(problem.source_labels);
  table.formats = {NumberFormat::for_weights()};
  table.shade_to = 1;
  writer.tables({table, vector_table("value", Matrix::from_rows(values), labels)});
}

}  // namespace

void write_memory(const StepsProblem& problem, const StepsResult& result, const StepsView& view,
                  StepsWriter& writer) {
  writer.stage(1, "Query and memory", "a slot holds a value under a key",
               "The query is compared with the keys; what is read are the values.");
  Table queries = vector_table("query", problem.queries, problem.labels);
  if (view.place) queries = only_row(queries, *view.place);
  writer.tables({queries, vector_table("key", problem.memory->keys, problem.source_labels),
                 vector_table("value", problem.memory->values, problem.source_labels)});
  const int64_t count = problem.queries.rows();
  for (int64_t i = 0; i < count; ++i) {
    if (view.place ? *view.place != i : i >= kMostQueries) continue;
    const auto index = static_cast<size_t>(i);
    if (count > 1)
      writer.banner(fmt::format("Query {} \"{}\"", i, printable(problem.labels[index])));
    write_addressing(problem, result.hard[index], result.soft[index], writer);
    write_temperatures(problem, problem.queries.row(i), writer);
  }
  if (!view.place && count > kMostQueries) {
    writer.caption(fmt::format("{} more queries; choose one with --token.", count - kMostQueries));
  }
}

}  // namespace fovea
