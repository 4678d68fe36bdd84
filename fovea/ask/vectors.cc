#include "fovea/ask/vectors.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"
#include "fovea/base/version.h"

namespace fovea {
namespace {

constexpr std::string_view kOfVectors = "a question about vectors";  // its values are checked

int64_t problem_token_named(const std::vector<std::string>& labels, const std::string& token) {
  std::vector<int64_t> found;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == token) found.push_back(static_cast<int64_t>(i));
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    fail(ErrorKind::kInvalidArgument, Field{"token"},
         "'{}' is the label of {}; give one of these numbers", token, fmt::join(found, " and "));
  }
  const auto count = static_cast<int64_t>(labels.size());
  const auto index = parse_number<int64_t>(token);
  if (!index) {
    fail(ErrorKind::kInvalidArgument, Field{"token"},
         "'{}' is not a label of this file{}; give a label or a number from 0 to {}", token,
         did_you_mean(token, labels), count - 1);
  }
  if (*index < 0 || *index >= count) {
    fail(ErrorKind::kInvalidArgument, Field{"token"}, "it is {} but there are {} vectors, 0 to {}",
         token, count, count - 1);
  }
  return *index;
}

int64_t pixel_at(const PixelGrid& grid, const Json& at) {
  const Json::Array& pair = at.as_array(kOfVectors);
  return grid.index_of({.row = pair[1].as_int(kOfVectors), .column = pair[0].as_int(kOfVectors)});
}

Json matrix_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (int64_t r = 0; r < matrix.rows(); ++r) rows.push_back(Json::array_of(matrix.row(r)));
  return rows;
}

Json matrix_json(const MemoryReading& reading) {
  return Json::object({{"scores", Json::array_of(reading.scores)},
                       {"weights", Json::array_of(reading.weights)},
                       {"value", Json::array_of(reading.value)}});
}

Json matrix_json(const HeadSteps& head) {
  return Json::object({{"q", matrix_json(head.q)},
                       {"k", matrix_json(head.k)},
                       {"v", matrix_json(head.v)},
                       {"scores", matrix_json(head.scores)},
                       {"scaled", matrix_json(head.scaled)},
                       {"masked", matrix_json(head.masked)},
                       {"weights", matrix_json(head.weights)},
                       {"row_sums", Json::array_of(head.row_sums)},
                       {"weighted_sum", matrix_json(head.mixed)}});
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

Tensor to_tensor(const Matrix& matrix) {
  return Tensor::from<double>({matrix.rows(), matrix.cols()}, matrix.values());
}

Tensor stack(const std::vector<HeadSteps>& heads, Matrix HeadSteps::*part) {
  const Matrix& first = heads.front().*part;
  std::vector<double> values;
  for (const HeadSteps& head : heads) {
    const auto entries = (head.*part).values();
    values.insert(values.end(), entries.begin(), entries.end());
  }
  return Tensor::from({static_cast<int64_t>(heads.size()), first.rows(), first.cols()}, values);
}

Tensor stack(const std::vector<MemoryReading>& readings, std::vector<double> MemoryReading::*part) {
  std::vector<double> values;
  for (const MemoryReading& reading : readings) {
    values.insert(values.end(), (reading.*part).begin(), (reading.*part).end());
  }
  return Tensor::from({static_cast<int64_t>(readings.size()),
                       static_cast<int64_t>((readings.front().*part).size())},
                      values);
}

// A picture always has a chosen pixel: the one in the centre if none is given.
StepsView chosen_part(const StepsProblem& problem, const Json& question) {
  const Json* head = question.find("head");
  const Json* token = question.find("token");
  const Json* at = question.find("at");
  StepsView view{.column = question.find("column") != nullptr};
  if (at != nullptr && !problem.grid) {
    fail(ErrorKind::kInvalidArgument, Field{"at"},
         "it chooses a pixel but {} has no image; give `token`", problem.file);
  }
  if (problem.memory && (head != nullptr || view.column)) {
    fail(ErrorKind::kInvalidArgument, Field{head != nullptr ? "head" : "column"},
         "it does not go with a memory; leave it out");
  }
  if (head != nullptr) view.head = head->as_int(kOfVectors);
  if (view.head && *view.head >= problem.attention.heads) {
    fail(ErrorKind::kInvalidArgument, Field{"head"}, "it is {} but there are {} heads, 0 to {}",
         *view.head, problem.attention.heads, problem.attention.heads - 1);
  }
  if (token != nullptr) {
    view.place = problem_token_named(view.column ? problem.source_labels : problem.labels,
                                     token->as_string(kOfVectors));
  } else if (at != nullptr) {
    view.place = pixel_at(*problem.grid, *at);
  } else if (problem.grid) {
    view.place = problem.grid->index_of(
        {.row = problem.grid->height / 2, .column = problem.grid->width / 2});
  } else if (view.column) {
    fail(ErrorKind::kInvalidArgument, Field{"column"},
         "it needs to know whose column; give `token` too");
  }
  return view;
}

std::vector<FieldInfo> all_vector_fields() {
  return {{.name = "similarity",
           .shown = "NAME",
           .help = "how a query is compared with a key",
           .type = FieldType::kChoice,
           .words = similarity_names(),
           .otherwise = "scaled, of a memory dot"},
          {.name = "temperature",
           .shown = "T",
           .help = "divides the scores before softmax; 0 takes the best key only",
           .type = FieldType::kReal,
           .low = 0,
           .otherwise = "1"},
          {.name = "token",
           .shown = "LABEL|i",
           .help = "one vector, by its label or its number from 0",
           .rules = {{.excludes = "at", .why = "chooses a vector"}}},
          {.name = "at",
           .shown = "X,Y",
           .help = "the pixel of a picture",
           .type = FieldType::kPixel,
           .otherwise = "the centre"},
          {.name = "head",
           .shown = "N",
           .help = "which head, from 0",
           .type = FieldType::kInteger,
           .low = 0,
           .otherwise = "all"},
          {.name = "column",
           .help = "who attends to the vector, not what it attends to",
           .type = FieldType::kFlag}};
}

}  // namespace

std::span<const FieldInfo> vector_fields() {
  static const std::vector<FieldInfo> fields = all_vector_fields();
  return fields;
}

VectorSteps ask_vectors(std::string_view text, std::string_view file, const Json& question) {
  const Json asked = checked_fields(vector_fields(), question, "a question about vectors");
  StepsSettings settings;
  if (const Json* name = asked.find("similarity")) {
    settings.similarity = name->as_string(kOfVectors);
  }
  if (const Json* divisor = asked.find("temperature")) {
    settings.temperature = divisor->as_double(kOfVectors);
  }
  VectorSteps steps{.problem = parse_steps(text, file, settings)};
  steps.view = chosen_part(steps.problem, asked);
  steps.result = compute_steps(steps.problem);
  return steps;
}

Json vectors_json(const VectorSteps& steps) {
  const auto& [problem, result, view] = steps;
  Json json = Json::object({{"program", fmt::format("fovea {}", version())},
                            {"file", problem.file},
                            {"title", problem.title},
                            {"kind", problem.memory             ? "memory"
                                     : problem.grid             ? "image"
                                     : problem.attention.source ? "cross"
                                                                : "self"},
                            {"similarity", name_of(problem.attention.similarity)},
                            {"temperature", problem.attention.temperature},
                            {"labels", Json::array_of(problem.labels)},
                            {"source_labels", Json::array_of(problem.source_labels)}});
  if (view.place) json.set(view.column ? "chosen_column" : "chosen_row", *view.place);
  if (view.head) json.set("chosen_head", *view.head);
  if (problem.memory) {
    add_memory(problem, result, json);
  } else {
    add_attention(problem, result, json);
  }
  return json;
}

std::vector<NamedTensor> vectors_arrays(const VectorSteps& steps) {
  const auto& [problem, result, view] = steps;
  std::vector<NamedTensor> arrays;
  if (problem.memory) {
    arrays = {{"queries", to_tensor(problem.queries)},
              {"keys", to_tensor(problem.memory->keys)},
              {"values", to_tensor(problem.memory->values)},
              {"scores", stack(result.soft, &MemoryReading::scores)},
              {"hard_weights", stack(result.hard, &MemoryReading::weights)},
              {"hard_value", stack(result.hard, &MemoryReading::value)},
              {"soft_weights", stack(result.soft, &MemoryReading::weights)},
              {"soft_value", stack(result.soft, &MemoryReading::value)}};
  } else {
    const auto& heads = result.attention.heads;
    arrays = {{"inputs", to_tensor(problem.attention.inputs)},
              {"q", stack(heads, &HeadSteps::q)},
              {"k", stack(heads, &HeadSteps::k)},
              {"v", stack(heads, &HeadSteps::v)},
              {"scores", stack(heads, &HeadSteps::scores)},
              {"scaled", stack(heads, &HeadSteps::scaled)},
              {"masked", stack(heads, &HeadSteps::masked)},
              {"weights", stack(heads, &HeadSteps::weights)},
              {"weighted_sum", stack(heads, &HeadSteps::mixed)},
              {"joined", to_tensor(result.attention.joined)},
              {"output", to_tensor(result.attention.output)}};
    if (problem.attention.source)
      arrays.push_back({"source", to_tensor(*problem.attention.source)});
  }
  return arrays;
}

}  // namespace fovea
