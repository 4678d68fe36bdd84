// Model inputs from a safetensors file, under the names that transformers gives them.
#pragma once

#include <filesystem>

#include "fovea/models/model.h"

namespace fovea {

// input_ids, token_type_ids and attention_mask: whole numbers of any width, without a batch axis
// (or one of size 1). Throws Error{kBadFile} if input_ids is missing or a tensor is of another
// kind, Error{kUnsupported} naming a tensor that fovea does not take.
ModelInputs read_inputs(const std::filesystem::path& path);

}  // namespace fovea
