// What all verbs that run a model share: which model, and what input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/engine/engine.h"

namespace fovea {

// The default models. ./run fetches them into the cache, unless they are bundled.
inline constexpr std::string_view kDefaultTextModel = "all-minilm-l6-v2";
inline constexpr std::string_view kDefaultCausalModel = "smollm2-135m-instruct";
inline constexpr std::string_view kDefaultTranslationModel = "en-fr";      // bundled
inline constexpr std::string_view kDefaultPictureModel = "scenes-vit";     // bundled
inline constexpr std::string_view kDefaultDetectionModel = "scenes-detr";  // bundled

// How a person with a network can fetch the models that do not come with fovea.
struct Fetching {
  std::string command;
  std::string where;  // " in the source folder", or empty: anywhere
};
Fetching fetching();

// --model and --dtype
std::vector<Option> model_options(std::string_view default_model);
// Reads --dtype.
EngineOptions engine_options(const Args& args);
// Throws Error{kNotFound} that says how to get the default model if it is not there.
Engine open_engine(const Args& args, std::string_view default_model);
// The name that open_engine opens.
std::string model_name(const Args& args, std::string_view default_model);

// The default model for a text or a picture; with `two_stacks` one that has an encoder and a
// decoder.
std::string_view default_model_for(const GivenInput& given, bool two_stacks = false);
// Whether only such models have this attention.
bool is_of_two_stacks(std::optional<SiteKind> site);

// INPUT, and --pair, --target, --text-file and --inputs beside it.
Positional input_positional();
// The same, where it may also be a picture.
Positional any_input_positional();
std::vector<Option> input_options();
// Throws Error{kInvalidArgument} for a model that only sees pictures; the message names the verb
// for it.
void check_reads_text(const Engine& engine);

// Prints each warning as a note (add_note()).
void print_warnings(const std::vector<std::string>& warnings);

std::vector<Option> joined(std::vector<Option> first, std::vector<Option> second);

}  // namespace fovea
