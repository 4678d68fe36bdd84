// How strongly an answer depends on each position of the input, by its gradient.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

// The strength |x * dy/dx| of every position: the length of the product of its numbers (a token's
// embedding, all pixels of a patch) with their gradient. 0 for positions that read nothing, such as
// special tokens of pictures.
std::vector<double> input_strength(const InputGradient& input, const Axis& axis);

}  // namespace fovea
