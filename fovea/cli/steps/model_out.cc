// The steps of a model as data: every number, in full precision.
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/steps/model.h"
#include "fovea/io/npz.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

struct NamedVector {
  const char* name;
  const std::vector<double>* values;
};
struct NamedMatrix {
  const char* name;
  const Matrix* values;
};

// In the order in which they come about.
std::array<NamedVector, 13> vectors_of(const ModelSteps& steps) {
  return {{{"x", &steps.x},
           {"q", &steps.q},
           {"scores", &steps.scores},
           {"scaled", &steps.scaled},
           {"bias", &steps.bias},
           {"capped", &steps.capped},
           {"masked", &steps.masked},
           {"weights", &steps.weights},
           {"captured", &steps.captured},
           {"weighted_sum", &steps.z},
           {"head_output", &steps.head_output},
           {"output_bias", &steps.output_bias},
           {"output", &steps.output}}};
}

std::array<NamedMatrix, 3> matrices_of(const ModelSteps& steps) {
  return {{{"k", &steps.k}, {"v", &steps.v}, {"products", &steps.products}}};
}

void write_model_arrays(const std::filesystem::path& path, const ModelSteps& steps) {
  std::vector<NamedTensor> arrays;
  for (const NamedVector& vector : vectors_of(steps)) {
    if (vector.values->empty()) continue;
    arrays.push_back(
        {vector.name, Tensor::from({static_cast<int64_t>(vector.values->size())}, *vector.values)});
  }
  for (const auto& [name, matrix] : matrices_of(steps)) {
    arrays.push_back(
        {name, Tensor::from<double>({matrix->rows(), matrix->cols()}, matrix->values())});
  }
  write_npz(path, arrays);
}

}  // namespace

Json model_steps_json(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  Json json = Json::object();
  json.set("program", program_version());
  json.set("kind", "model");
  json.set("model", view.run.model);
  json.set("model_hash", view.run.model_hash);
  json.set("input", view.input);
  if (view.picture) {
    const Picture& picture = view.picture->picture;
    json.set("picture", Json(Json::Array{picture.width, picture.height}));
    json.set("grid", Json(Json::Array{view.cols.grid_rows, view.cols.grid_cols}));
  }
  if (view.is_cross()) json.set("target", view.rows.source);
  Json tokens = Json::array();
  for (const Position& position : view.cols.positions) tokens.push_back(position.text);
  json.set("tokens", std::move(tokens));
  json.set("site", to_string(steps.site));
  json.set("layer", steps.site.layer);
  json.set("head", steps.head);
  json.set("kv_head", steps.kv_head);
  json.set("row", steps.row);
  json.set("token", view.rows.positions[static_cast<size_t>(steps.row)].text);
  json.set("similarity", view.similarity_name());
  if (steps.similarity) json.set("note", kNotTheModel);
  json.set("caption", view.caption());
  json.set("rotary", view.facts.main.rotary);
  json.set("scale", steps.scale);
  if (!steps.capped.empty()) json.set("soft_cap", double{view.rule.soft_cap});
  for (const NamedVector& vector : vectors_of(steps)) {
    if (!vector.values->empty()) json.set(vector.name, Json::array_of(*vector.values));
  }
  for (const auto& [name, matrix] : matrices_of(steps)) {
    Json rows = Json::array();
    for (int64_t r = 0; r < matrix->rows(); ++r) rows.push_back(Json::array_of(matrix->row(r)));
    json.set(name, std::move(rows));
  }
  json.set("sum", steps.sum);
  if (!steps.similarity) json.set("map_difference", steps.map_difference);
  if (steps.output_difference) json.set("output_difference", *steps.output_difference);
  return json;
}

void check_model_steps_suffix(const std::filesystem::path& path) {
  if (lower_suffix(path) == ".json" || lower_suffix(path) == ".npz" || is_figure_suffix(path))
    return;
  fail(
      ErrorKind::kInvalidArgument,
      "--out is '{}' but the steps of a model are written to .png, .svg, .pdf, .json or .npz; give "
      "one of these suffixes",
      path.string());
}

void write_model_steps(const std::filesystem::path& path, const ModelStepsView& view) {
  const InterruptGuard guard;
  if (lower_suffix(path) == ".npz") {
    write_model_arrays(path, view.steps);
  } else if (lower_suffix(path) == ".json") {
    const std::string text = model_steps_json(view).dump(1) + "\n";
    write_file_atomic(path, [&](FileWriter& writer) { writer.write(text); });
  } else {
    write_figure(path, model_steps_figure(view));
  }
}

}  // namespace fovea
