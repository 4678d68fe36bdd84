// Whether a picture is like those that a model was trained on. A small model answers with a name
// whatever it is shown, so who shows it something else must be told.
#pragma once

#include <string>

#include "fovea/checkpoint/checkpoint.h"
#include "fovea/engine/engine.h"

namespace fovea {

// How sure a model is of what it sees, from its logits.
struct Clarity {
  double clearest = 0;  // probability of the class or object that it is surest of
  double doubt = 0;     // sum of p (1 - p) over classes or object queries: how much is undecided
};
Clarity clarity_of(const Engine& engine, const Tensor& logits);

// A line for people if the picture is unlike the training, by what the model's card says of its own
// scenes (`training` of fovea_card.json); empty otherwise, and for models whose card does not say.
std::string unlike_training(const Engine& engine, const Tensor& logits);

}  // namespace fovea
