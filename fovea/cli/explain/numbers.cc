#include "fovea/cli/explain/numbers.h"

#include <fmt/format.h>

#include "fovea/base/file.h"
#include "fovea/base/version.h"
#include "fovea/cli/explain/card.h"
#include "fovea/cli/map_out.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

Tensor vector_of(const std::vector<double>& scores) {
  const std::vector<float> values(scores.begin(), scores.end());
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

Tensor scores_tensor(const Explanation& explanation) {
  const Tensor scores = vector_of(explanation.scores);
  const Axis& axis = explanation.axis;
  return axis.name == "heads" ? scores.reshaped({axis.grid_rows, axis.grid_cols}) : scores;
}

std::vector<NamedTensor> tensors_of(const Explanation& explanation) {
  std::vector<NamedTensor> tensors{{"scores", scores_tensor(explanation)}};
  if (!explanation.target_scores.empty()) {
    tensors.push_back({"target_scores", vector_of(explanation.target_scores)});
  }
  return tensors;
}

Json position_names(const Axis& axis) {
  Json names = Json::array();
  for (const Position& position : axis.positions) names.push_back(position.text);
  return names;
}

std::string csv_lines(const Axis& axis, const std::vector<double>& scores) {
  std::string text;
  for (size_t i = 0; i < scores.size(); ++i) {
    text +=
        fmt::format("{},{},{},{:.9g}\n", axis.name, i, csv_text(axis.positions[i].text), scores[i]);
  }
  return text;
}

}  // namespace

Json explanation_metadata(const ExplainQuestion& question, const Explanation& explanation,
                          const FaithfulnessCard* card) {
  Json json = Json::object({{"version", version()},
                            {"model", question.result.run.model},
                            {"model_hash", question.result.run.model_hash},
                            {"method", question.method.name}});
  Json parameters = Json::object();
  for (const MethodParameter& parameter : question.method.parameters) {
    const auto given = question.parameters.find(parameter.name);
    parameters.set(parameter.name,
                   given == question.parameters.end() ? parameter.otherwise : given->second);
  }
  json.set("parameters", std::move(parameters));
  const std::string site = to_string(SiteId{question.kind, 0});
  json.set("attention", site.substr(0, site.rfind('.')));
  if (explanation.layer) json.set("layer", *explanation.layer);
  if (question.head) json.set("head", *question.head);
  if (!question.position_name.empty()) {
    json.set("position", question.position);
    json.set("position_name", question.position_name);
  }
  if (question.target) json.set("target", question.target->name);
  if (question.against) json.set("against", question.against->name);
  json.set("measures", explanation.measures);
  json.set("signed", explanation.is_signed);
  if (card != nullptr) json.set("check", card_json(question, *card, /*curves=*/false));
  return json;
}

Json explanation_json(const ExplainQuestion& question, const Explanation& explanation,
                      const FaithfulnessCard* card) {
  Json json = explanation_metadata(question, explanation, card);
  if (card != nullptr) json.set("check", card_json(question, *card, /*curves=*/true));
  json.set("axis", explanation.axis.name);
  if (explanation.axis.grid_rows > 0) {
    json.set("grid_rows", explanation.axis.grid_rows);
    json.set("grid_cols", explanation.axis.grid_cols);
  }
  json.set("positions", position_names(explanation.axis));
  json.set("scores", Json::array_of(explanation.scores));
  if (!explanation.target_scores.empty()) {
    json.set("target_positions", position_names(explanation.target_axis));
    json.set("target_scores", Json::array_of(explanation.target_scores));
  }
  Json notes = Json::array();
  for (const std::string& note : question.notes) notes.push_back(note);
  for (const std::string& note : explanation.notes) notes.push_back(note);
  json.set("notes", std::move(notes));
  return json;
}

void write_explanation_numbers(const std::filesystem::path& path, const Explanation& explanation,
                               const Json& metadata) {
  const std::string suffix = lower_suffix(path);
  if (suffix == ".npy") {
    write_npy(path, scores_tensor(explanation));
  } else if (suffix == ".npz") {
    write_npz(path, tensors_of(explanation));
  } else if (suffix == ".safetensors") {
    write_safetensors(path, tensors_of(explanation),
                      {{"program", fmt::format("fovea {}", version())},
                       {"explanation", metadata.dump()},
                       {"positions", position_names(explanation.axis).dump()}});
  } else {
    const std::string text = "axis,index,position,score\n" +
                             csv_lines(explanation.axis, explanation.scores) +
                             csv_lines(explanation.target_axis, explanation.target_scores);
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  }
}

}  // namespace fovea
