// One vector for a whole input.
#pragma once

#include <vector>

#include "fovea/models/model.h"

namespace fovea {

// Which output of a model holds it: of a picture or a text beside the other its embedding,
// otherwise the pooler's output of a picture, the last state of a model that writes, and the mean
// of the states of what is no padding (as sentence-transformers pools).
struct EmbeddingOutput {
  Value output;                 // [width], or states [positions, width]; empty: there is none
  std::vector<double> weights;  // of states: the embedding is their sum with these weights

  Tensor vector() const;  // [width]
  // The gradient with respect to `output`, from that with respect to the vector.
  Tensor spread(const Tensor& gradient) const;
};

EmbeddingOutput embedding_output(const ModelFacts& facts, const ModelInputs& inputs,
                                 const ModelOutputs& outputs);

}  // namespace fovea
