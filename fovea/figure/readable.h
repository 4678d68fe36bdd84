// A figure as text that a person can review and a test can compare: everything it says (title,
// axes, panels with their numbers, marks, scale, caption), one thing a line, and nothing about how
// it is drawn.
#pragma once

#include <string>

#include "fovea/figure/figure.h"

namespace fovea {

// Weights with three decimals, numbers of steps as their table writes them, "·" where the mask
// forbids them; of a large matrix its size and its largest weight. Metadata is left out.
std::string readable(const Figure& figure);

}  // namespace fovea
