#include "fovea/cli/steps/json.h"

#include "fovea/cli/help.h"

namespace fovea {
namespace {

Json matrix_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (int64_t r = 0; r < matrix.rows(); ++r) rows.push_back(Json::array_of(matrix.row(r)));
  return rows;
}

Json matrix_json(const MemoryReading& reading) {
  Json json = Json::object();
  json.set("scores", Json::array_of(reading.scores));
  json.set("weights", Json::array_of(reading.weights));
  json.set("value", Json::array_of(reading.value));
  return json;
}

Json matrix_json(const HeadSteps& head) {
  Json json = Json::object();
  json.set("q", matrix_json(head.q));
  json.set("k", matrix_json(head.k));
  json.set("v", matrix_json(head.v));
  json.set("scores", matrix_json(head.scores));
  json.set("scaled", matrix_json(head.scaled));
  json.set("masked", matrix_json(head.masked));
  json.set("weights", matrix_json(head.weights));
  json.set("row_sums", Json::array_of(head.row_sums));
  json.set("weighted_sum", matrix_json(head.mixed));
  return json;
}

void add_memory(const StepsProblem& problem, const StepsResult& result, Json& json) {
  json.set("queries", matrix_json(problem.queries));
  json.set("keys", matrix_json(problem.memory->keys));
  json.set("values", matrix_json(problem.memory->values));
  Json hard = Json::array();
  for (const MemoryReading& reading : result.hard) hard.push_back(matrix_json(reading));
  Json soft = Json::array();
  for (const MemoryReading& reading : result.soft) soft.push_back(matrix_json(reading));
  json.set("hard", std::move(hard));
  json.set("soft", std::move(soft));
}

void add_attention(const StepsProblem& problem, const StepsResult& result, Json& json) {
  const AttentionProblem& attention = problem.attention;
  json.set("scale", attention.effective_scale());
  json.set("identity", Json::array_of(problem.left_to_identity));
  if (problem.grid) {
    Json grid = Json::object();
    grid.set("height", problem.grid->height);
    grid.set("width", problem.grid->width);
    json.set("grid", std::move(grid));
  }
  json.set("inputs", matrix_json(attention.inputs));
  if (attention.source) json.set("source", matrix_json(*attention.source));
  if (attention.mask) json.set("mask", matrix_json(*attention.mask));
  Json heads = Json::array();
  for (const HeadSteps& head : result.attention.heads) heads.push_back(matrix_json(head));
  json.set("heads", std::move(heads));
  json.set("joined", matrix_json(result.attention.joined));
  json.set("output", matrix_json(result.attention.output));
  json.set("forms_differ_by", result.forms_differ_by);
}

}  // namespace

Json steps_json(const StepsProblem& problem, const StepsResult& result, const StepsView& view) {
  Json json = Json::object();
  json.set("program", program_version());
  json.set("file", problem.file);
  json.set("title", problem.title);
  json.set("kind", problem.memory             ? "memory"
                   : problem.grid             ? "image"
                   : problem.attention.source ? "cross"
                                              : "self");
  json.set("similarity", name_of(problem.attention.similarity));
  json.set("temperature", problem.attention.temperature);
  json.set("labels", Json::array_of(problem.labels));
  json.set("source_labels", Json::array_of(problem.source_labels));
  if (view.place) json.set(view.column ? "chosen_column" : "chosen_row", *view.place);
  if (view.head) json.set("chosen_head", *view.head);
  if (problem.memory) {
    add_memory(problem, result, json);
  } else {
    add_attention(problem, result, json);
  }
  return json;
}

}  // namespace fovea
