// A GGUF file's tensors under the names and in the row order that Hugging Face checkpoints have.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/checkpoint/gguf.h"
#include "fovea/checkpoint/weight_source.h"

namespace fovea {

// Puts rows of q and k into the order of Hugging Face, which rotates the two halves of a head
// against each other. llama.cpp rotates neighbours. Throws Error{kBadFile} if the rows do not
// divide into `heads` heads of even size.
Tensor unpermute_heads(const Tensor& tensor, int64_t heads, std::string_view where);

// Throws Error{kUnsupported} for an architecture that gguf_config does not know.
std::shared_ptr<const WeightSource> gguf_weights(GgufFile file);

}  // namespace fovea
