// How strongly an answer depends on each position of the input, by its gradient.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

// |x * dy/dx| of every position: the length of what a token's embedding, or all pixels of a patch,
// times its gradient gives. 0 for positions that read nothing: special tokens of pictures.
std::vector<double> input_strength(const InputGradient& input, const Axis& axis);

}  // namespace fovea
