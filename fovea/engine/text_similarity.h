// How well texts match a picture, in a model with a tower for each (CLIP, SigLIP).
#pragma once

#include <string>
#include <vector>

#include "fovea/engine/engine.h"

namespace fovea {

struct TextSimilarity {
  std::string text;
  double cosine = 0;  // between the two embeddings
  double logit = 0;   // scale * cosine + bias: logits_per_image of transformers
  // CLIP: this text's share among all given texts (softmax). SigLIP: the probability that this text
  // fits, whatever the others are (sigmoid).
  double probability = 0;
};

// Throws Error{kUnsupported} unless the model has both towers.
void check_compares_texts(const Engine& engine);

// Compares texts with `picture`, a run of the same model on a picture. Throws as
// check_compares_texts() does, and what encoding and running a text throw.
std::vector<TextSimilarity> text_similarities(const Engine& engine, const RunResult& picture,
                                              const std::vector<std::string>& texts);

}  // namespace fovea
