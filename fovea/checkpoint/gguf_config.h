// A GGUF file's metadata in the terms of a Hugging Face config.json.
#pragma once

#include "fovea/checkpoint/config.h"
#include "fovea/checkpoint/gguf.h"

namespace fovea {

// For the architectures of gguf_architecture.h. A file with a tensor of rope factors (Llama 3.1)
// gets rope_scaling {"rope_type": "factors"}, and the factors are the weight
// "model.rope_freqs.weight". Throws Error{kUnsupported} for other architectures and Error{kBadFile}
// for missing values.
Config gguf_config(const GgufFile& file);

}  // namespace fovea
