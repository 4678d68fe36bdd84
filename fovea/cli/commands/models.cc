#include <fmt/ranges.h>

#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/model_info.h"

namespace fovea {
namespace {

std::string models_text(const std::vector<Architecture>& architectures,
                        const std::vector<LocalModel>& models, const Terminal& terminal) {
  std::string text = terminal.bold("at hand") + "\n";
  size_t widest = 12;
  for (const LocalModel& model : models) widest = std::max(widest, model.name.size());
  for (const LocalModel& model : models) {
    std::string kind = model.model_type.empty() ? "cannot be opened" : model.model_type;
    if (!model.supported && !model.model_type.empty()) kind += " (not supported)";
    text += fmt::format("  {:<{}}  {}\n", printable(model.name), widest, printable(kind));
  }
  if (models.empty()) {
    text += "  none; `fovea pull ORG/NAME` fetches one, and -m takes any folder\n";
  }
  text +=
      "\n" + terminal.bold("architectures") + terminal.dim("  (model_type in config.json)") + "\n";
  widest = 0;
  for (const Architecture& each : architectures) widest = std::max(widest, each.name.size());
  for (const Architecture& architecture : architectures) {
    text += fmt::format("  {:<{}}  {}", architecture.name, widest, architecture.covers);
    if (architecture.model_types != std::vector<std::string>{architecture.name}) {
      text += terminal.dim(fmt::format("  ({})", fmt::join(architecture.model_types, ", ")));
    }
    text += "\n";
  }
  return text;
}

Json models_json(const std::vector<Architecture>& architectures,
                 const std::vector<LocalModel>& models) {
  Json json = Json::object();
  Json local = Json::array();
  for (const LocalModel& model : models) {
    local.push_back(Json::object({{"name", model.name},
                                  {"folder", model.place},
                                  {"model_type", model.model_type},
                                  {"supported", model.supported}}));
  }
  json.set("models", std::move(local));
  Json known = Json::array();
  for (const Architecture& architecture : architectures) {
    known.push_back(Json::object({{"name", architecture.name},
                                  {"covers", architecture.covers},
                                  {"model_types", Json::array_of(architecture.model_types)}}));
  }
  json.set("architectures", std::move(known));
  return json;
}

void run_models(const Args& args) {
  const std::vector<Architecture> architectures = all_architectures();
  const std::vector<LocalModel> models = local_models(ModelCaches::from_environment());
  write_stdout(args.flag("json") ? models_json(architectures, models).dump(1) + "\n"
                                 : models_text(architectures, models, stdout_terminal()));
}

}  // namespace

Command models_command() {
  return {.name = "models",
          .summary = "the models at hand, and the architectures that fovea knows",
          .options = {Option::flag("json", "print it as JSON")},
          .run = run_models};
}

}  // namespace fovea
