// Model inputs from a safetensors file, under the names that transformers gives them.
#pragma once

#include <filesystem>

#include "fovea/models/model.h"

namespace fovea {

// Lists of ids and masks are whole numbers of any width, input_features numbers [bands, frames],
// all without a batch axis (or one of size 1). Throws Error{kBadFile} if there is neither input_ids
// nor input_features or a tensor is of another kind, Error{kUnsupported} naming a tensor that fovea
// does not take.
ModelInputs read_inputs(const std::filesystem::path& path);

}  // namespace fovea
