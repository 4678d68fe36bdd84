#include "fovea/cli/steps/vectors.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/command.h"
#include "fovea/cli/help.h"

namespace fovea {
namespace {

int64_t problem_token_named(const std::vector<std::string>& labels, const std::string& token) {
  std::vector<int64_t> found;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == token) found.push_back(static_cast<int64_t>(i));
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    fail(ErrorKind::kInvalidArgument, "--token '{}' is the label of {}; give one of these numbers",
         token, fmt::join(found, " and "));
  }
  const auto count = static_cast<int64_t>(labels.size());
  const auto index = parse_number<int64_t>(token);
  if (!index) {
    fail(ErrorKind::kInvalidArgument,
         "--token '{}' is not a label of this file{}; give a label or a number from 0 to {}", token,
         did_you_mean(token, labels), count - 1);
  }
  if (*index < 0 || *index >= count) {
    fail(ErrorKind::kInvalidArgument, "--token is {} but there are {} vectors, 0 to {}", token,
         count, count - 1);
  }
  return *index;
}

int64_t pixel_at(const PixelGrid& grid, const std::string& at) {
  const PixelArgument pixel = parse_pixel(at);
  return grid.index_of({.row = pixel.y, .column = pixel.x});
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

}  // namespace

StepsView choose_view(const StepsProblem& problem, const StepsChoice& choice) {
  StepsView view{.head = choice.head, .column = choice.column};
  if (choice.token && choice.at) {
    fail(ErrorKind::kInvalidArgument, "--token and --at both choose a vector; give one of them");
  }
  if (choice.at && !problem.grid) {
    fail(ErrorKind::kInvalidArgument, "--at chooses a pixel but {} has no image; use --token",
         problem.file);
  }
  if (problem.memory && (choice.head || choice.column)) {
    fail(ErrorKind::kInvalidArgument, "--{} does not go with a memory; leave it out",
         choice.head ? "head" : "column");
  }
  if (choice.head && *choice.head >= problem.attention.heads) {
    fail(ErrorKind::kInvalidArgument, "--head is {} but there are {} heads, 0 to {}", *choice.head,
         problem.attention.heads, problem.attention.heads - 1);
  }
  if (choice.token) {
    view.place =
        problem_token_named(choice.column ? problem.source_labels : problem.labels, *choice.token);
  } else if (choice.at) {
    view.place = pixel_at(*problem.grid, *choice.at);
  } else if (problem.grid) {
    view.place = problem.grid->index_of(
        {.row = problem.grid->height / 2, .column = problem.grid->width / 2});
  } else if (choice.column) {
    fail(ErrorKind::kInvalidArgument, "--column needs to know whose column; add --token");
  }
  return view;
}

Json vectors_json(const StepsProblem& problem, const StepsResult& result, const StepsView& view) {
  Json json = Json::object({{"program", program_version()},
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

std::vector<NamedTensor> vectors_arrays(const StepsProblem& problem, const StepsResult& result) {
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
