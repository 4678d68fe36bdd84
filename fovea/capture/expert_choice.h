// Which experts the feed-forward part of a layer gave each token to.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct ExpertChoice {
  int layer = 0;
  int64_t experts = 0;  // that the layer has
  Tensor chosen;        // i64 [tokens, taken], those with the largest share first
  Tensor shares;        // f32 [tokens, taken]: the factors of what they give

  int64_t tokens() const { return chosen.rank() == 2 ? chosen.size(0) : 0; }
  int64_t taken() const { return chosen.rank() == 2 ? chosen.size(1) : 0; }
};

// Throws Error{kInvalidArgument} unless the parts fit together and name experts that are there.
void validate(const ExpertChoice& choice);

// The choices of `more`, of the same layer, behind those of `choice`.
ExpertChoice joined(const ExpertChoice& choice, const ExpertChoice& more);

}  // namespace fovea
