// Gradients of inputs as one number per position.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

// The sum of `each`, shaped like the input, over what each position of its axis covers: a row of
// embeddings, a patch of pixels in all channels, frames of sound. Patches come row by row, without
// the tokens in front of them. Throws Error{kInvalidArgument} for another shape.
std::vector<double> position_sums(const InputGradient& input, const Tensor& each);

}  // namespace fovea
