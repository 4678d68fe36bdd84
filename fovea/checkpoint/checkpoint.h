// A model as people download it: its config.json and its weights, from whichever files there are.
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

// What a picture model was trained on, and how sure it is of nearly all such pictures.
struct TrainingPictures {
  std::string what;        // "synthetic scenes"
  std::string instead;     // what to do with other pictures
  double least_clear = 0;  // probability of the class or object that it is surest of
  double most_doubt = 0;   // sum of p (1 - p) over classes or object queries
};

struct Checkpoint {
  std::filesystem::path folder;  // where the tokenizer's files lie
  Config config;
  Weights weights;
  std::string note;                          // from its card, see below; empty: none
  std::optional<TrainingPictures> training;  // from its card
  std::optional<GgufFile> gguf;              // if the weights came from one; it holds a tokenizer
};

// Opens the model that resolve_model() finds under `name`. In a folder the weights are the first of
// model.safetensors, its index of shards, pytorch_model.bin, its index, then a single .safetensors,
// .bin, .pt, .pth or .gguf file. A GGUF file has its own configuration, and so has OpenAI's form of
// Whisper; all others need config.json beside them. Reads names and shapes only. Throws what the
// readers throw, and Error{kNotFound} if a file is missing.
//
// A folder may hold a card, fovea_card.json: {"note": "a small model trained on ..."}. The note is
// what people must know to judge the model's maps, and it is shown beside them. A model of pictures
// may also have "training": {"what", "instead", "least_clear", "most_doubt"}, by which a picture
// unlike its training is told (engine/training_pictures.h). The card is not part of config.json,
// because that belongs to the fingerprint, and a note does not make a model another one.
Checkpoint open_checkpoint(std::string_view name,
                           const ModelCaches& caches = ModelCaches::from_environment());

// Opens one file of weights by its suffix, or an index of shards. Throws Error{kUnsupported} for
// others.
std::shared_ptr<const WeightSource> open_weights(const std::filesystem::path& file);

}  // namespace fovea
