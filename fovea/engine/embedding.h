// One vector for a whole input.
#pragma once

#include <vector>

#include "fovea/models/model.h"

namespace fovea {

// Which output holds the vector of the whole input. A model that embeds pictures or texts has such
// an output, and picture models have a pooler's output. A model that writes uses its last state.
// All other models use the mean of the states without padding, as sentence-transformers does.
struct EmbeddingOutput {
  Value output;                 // [width], or states [positions, width]; empty: there is none
  std::vector<double> weights;  // if states: the embedding is their weighted sum

  Tensor vector() const;  // [width]
  // Turns a gradient with respect to the vector into one with respect to `output`.
  Tensor spread(const Tensor& gradient) const;
};

EmbeddingOutput embedding_output(const ModelFacts& facts, const ModelInputs& inputs,
                                 const ModelOutputs& outputs);

}  // namespace fovea
