// How well texts go with a picture, as a model with a tower for each means it (CLIP, SigLIP).
#pragma once

#include <string>
#include <vector>

#include "fovea/engine/engine.h"

namespace fovea {

struct TextSimilarity {
  std::string text;
  double cosine = 0;  // of the two embeddings
  double logit = 0;   // scale * cosine + bias: logits_per_image of transformers
  // CLIP: the share among all texts that were given (softmax). SigLIP: that this text fits,
  // whatever the others are (sigmoid).
  double probability = 0;
};

// Throws Error{kUnsupported} unless the model has both towers.
void check_compares_texts(const Engine& engine);

// `picture` is a run of the same model on a picture. Throws as that, and what encoding and running
// a text throw.
std::vector<TextSimilarity> text_similarities(const Engine& engine, const RunResult& picture,
                                              const std::vector<std::string>& texts);

}  // namespace fovea
