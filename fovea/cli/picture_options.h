// Pictures on the command line: which file, at which size.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/model_options.h"

namespace fovea {

// INPUT, a text or a picture as the model takes it.
Positional any_input_positional();

// --size
std::vector<Option> picture_options();
// Throws Error{kInvalidArgument} for what is no size.
std::optional<PictureSize> picture_size(const Args& args);

// The default model for this input: `text_model`, unless the input is a picture.
std::string_view default_model_for(const GivenInput& given, std::string_view text_model);

}  // namespace fovea
