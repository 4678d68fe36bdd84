// What verbs that run a model have in common: which model, and what input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/engine/engine.h"

namespace fovea {

// The models of the cache that serve where none is named; ./run fetches them.
inline constexpr std::string_view kDefaultTextModel = "all-minilm-l6-v2";
inline constexpr std::string_view kDefaultCausalModel = "smollm2-135m-instruct";
inline constexpr std::string_view kDefaultTranslationModel = "en-fr";      // bundled
inline constexpr std::string_view kDefaultPictureModel = "scenes-vit";     // bundled
inline constexpr std::string_view kDefaultDetectionModel = "scenes-detr";  // bundled

// How the models that do not come with fovea are fetched, by a person with a network.
struct Fetching {
  std::string command;
  std::string where;  // " in the source folder", or empty: anywhere
};
Fetching fetching();

// --model and --dtype
std::vector<Option> model_options(std::string_view default_model);
// What --dtype says.
EngineOptions engine_options(const Args& args);
// Throws Error{kNotFound} that says how to get the default model if it is not there.
Engine open_engine(const Args& args, std::string_view default_model);
// The name that open_engine opens.
std::string model_name(const Args& args, std::string_view default_model);

// INPUT, and --pair, --target, --text-file and --inputs beside it.
Positional input_positional();
std::vector<Option> input_options();
// Throws Error{kInvalidArgument} for a model that sees pictures alone, with the verb that takes
// them.
void check_reads_text(const Engine& engine);

// Each a note, as add_note() gives them.
void print_warnings(const std::vector<std::string>& warnings);

std::vector<Option> joined(std::vector<Option> first, std::vector<Option> second);

}  // namespace fovea
