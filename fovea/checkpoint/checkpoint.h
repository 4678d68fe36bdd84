// A model as people download it: what config.json says, and the weights, from whichever files there
// are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/checkpoint/config.h"
#include "fovea/checkpoint/gguf.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/checkpoint/weights.h"

namespace fovea {

struct Checkpoint {
  std::filesystem::path folder;  // where the tokenizer's files lie
  Config config;
  Weights weights;
  std::string note;              // of its card, see below; empty: none
  std::optional<GgufFile> gguf;  // if the weights came from one; it has a tokenizer within
};

// `name` as resolve_model takes it. In a folder the weights are the first of model.safetensors, its
// index of shards, pytorch_model.bin, its index, then a single .safetensors, .bin, .pt, .pth or
// .gguf file. A GGUF file has its own configuration and so has OpenAI's form of Whisper; all others
// need config.json beside them. Reads names and shapes only. Throws what the readers throw, and
// Error{kNotFound} if a file is missing.
//
// A folder may hold a card, fovea_card.json: {"note": "a small model trained on ..."} is what must
// be known to judge its maps and is said beside them. It is a file of its own because the
// configuration is part of the fingerprint, and what is said of a model does not make it another.
Checkpoint open_checkpoint(std::string_view name,
                           const ModelCaches& caches = ModelCaches::from_environment());

// One file of weights, by its suffix; an index of shards too. Throws Error{kUnsupported} for
// others.
std::shared_ptr<const WeightSource> open_weights(const std::filesystem::path& file);

}  // namespace fovea
