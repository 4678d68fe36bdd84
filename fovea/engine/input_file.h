// Reads model inputs from a safetensors file, under the names that transformers gives them.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "fovea/io/named_tensor.h"
#include "fovea/models/model.h"

namespace fovea {

// Lists of ids and masks are whole numbers of any width. input_features are numbers [bands,
// frames], pixel_values are numbers [channels, height, width], pixel_mask holds whole numbers
// [height, width]. None has a batch axis, or one of size 1. Throws Error{kBadFile} if the file has
// none of input_ids, input_features and pixel_values or a tensor of another kind, and
// Error{kUnsupported} for a tensor that fovea does not take, naming it.
ModelInputs read_inputs(const std::filesystem::path& path);

// The same of tensors in memory; messages begin with `source`.
ModelInputs model_inputs_of(std::span<const NamedTensor> tensors, std::string_view source);

}  // namespace fovea
