// How strongly an answer depends on each position of the input, by its gradient.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

// The strength |x * dy/dx| of every position. x are its numbers (a token's embedding, all pixels of
// a patch); they are multiplied with their gradient, and the strength is the length of the result.
// Positions that read nothing, such as a picture's special tokens, have 0.
std::vector<double> input_strength(const InputGradient& input, const Axis& axis);

}  // namespace fovea
