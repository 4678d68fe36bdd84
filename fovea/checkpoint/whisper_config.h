// OpenAI's form of Whisper: a .pt file that holds its sizes as "dims" beside the weights.
#pragma once

#include <optional>

#include "fovea/checkpoint/config.h"
#include "fovea/checkpoint/torch_file.h"

namespace fovea {

// The sizes in the terms of a Hugging Face config.json; nothing if the file has no "dims". Throws
// Error{kBadFile} if one is missing or they do not fit together.
std::optional<Config> find_whisper_config(const TorchFile& file);

}  // namespace fovea
