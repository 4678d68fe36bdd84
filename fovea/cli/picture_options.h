// Pictures on the command line: which file, at which size, and which patch of it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

// INPUT, a text or a picture as the model takes it.
Positional any_input_positional();

// --size
std::vector<Option> picture_options();
// Throws Error{kInvalidArgument} for what is no size.
std::optional<PictureSize> picture_size(const Args& args);

// The default model for what is given: `text_model`, unless it is a picture.
std::string_view default_model_for(const GivenInput& given, std::string_view text_model);

// What is given as a picture, where the model sees pictures; none where it is a text. Throws as
// read_picture_input does, and Error{kInvalidArgument} for options that only texts have.
std::optional<PictureInput> find_picture_input(const Engine& engine, const GivenInput& given,
                                               const Args& args);
// The patch of --at, on the grid. Throws Error{kInvalidArgument} for a pixel that the model does
// not see.
int64_t patch_at(const PictureInput& input, std::string_view at);

}  // namespace fovea
