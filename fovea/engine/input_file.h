// Model inputs from a safetensors file, under the names that transformers gives them.
#pragma once

#include <filesystem>

#include "fovea/models/model.h"

namespace fovea {

// Lists of ids and masks are whole numbers of any width, input_features numbers [bands, frames],
// pixel_values numbers [channels, height, width], pixel_mask whole numbers [height, width], all
// without a batch axis (or one of size 1). Throws Error{kBadFile} if there is none of input_ids,
// input_features and pixel_values or a tensor is of another kind, Error{kUnsupported} naming a
// tensor that fovea does not take.
ModelInputs read_inputs(const std::filesystem::path& path);

}  // namespace fovea
