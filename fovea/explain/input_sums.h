// Sums gradients of inputs to one number per position.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

// Sums `each`, which is shaped like the input, over what each position covers: a row of embeddings,
// a patch of pixels in all channels, frames of sound. Patches come row by row; tokens in front of
// them have no entry. Throws Error{kInvalidArgument} for another shape.
std::vector<double> position_sums(const InputGradient& input, const Tensor& each);

}  // namespace fovea
