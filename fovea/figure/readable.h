// Writes a figure as text that a person can review and a test can compare. The text says everything
// that the figure says (title, axes, panels with their numbers, marks, scale, caption), one thing a
// line, and nothing about how it is drawn.
#pragma once

#include <string>

#include "fovea/figure/figure.h"

namespace fovea {

// Weights have three decimals; numbers of steps are written as in their table; "·" marks cells that
// the mask forbids. A large matrix shows only its size and its largest weight. Metadata is left
// out.
std::string readable(const Figure& figure);

}  // namespace fovea
