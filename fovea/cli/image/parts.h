// What the views of a picture share: reading their options, and what is said about any of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/cli/image/view.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// --layer N or all, where every layer can be shown; none: the last. Throws Error{kInvalidArgument}.
struct LayerChoice {
  bool all = false;
  std::optional<int64_t> layer;
};
LayerChoice layer_choice(const Args& args);
std::optional<int64_t> one_layer(const Args& args);  // refuses all

// --mask P; `otherwise` if it is not given.
double mask_share(const Args& args, double otherwise);

// --at and --token: their form, and that only one is given.
void check_place(const Args& args);

// The side of a patch in pixels of the model's input. Throws Error{kUnsupported} unless patches are
// square.
int64_t patch_side(const Engine& engine);

// Of every view: version, model and grid.
Json image_metadata(const ImageRun& run);

// None where the model does not tell its states before the final norm.
std::optional<Artifacts> artifacts_of(const RunResult& result);
std::string artifacts_line(const Artifacts& artifacts, const Terminal& terminal);
Json to_json(const Artifacts& artifacts);

}  // namespace fovea
