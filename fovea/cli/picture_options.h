// What verbs that read pictures have in common.
#pragma once

#include <optional>

#include "fovea/cli/command.h"
#include "fovea/vision/picture.h"

namespace fovea {

// --size WxH, of the model's input.
Option size_option();
// Nothing if it is not given. Throws Error{kInvalidArgument}.
std::optional<PictureSize> size_of(const Args& args);

}  // namespace fovea
