// Turns scores into shares of one whole.
#pragma once

#include <span>
#include <vector>

#include "fovea/attention/matrix.h"

namespace fovea {

// weights[j] = exp(scores[j] / temperature) / sum_j exp(scores[j] / temperature), computed from the
// distance to the largest score so that nothing overflows.
// A score of -infinity is masked: its weight is 0, and if all are masked every weight is 0.
// Temperature 0 is the limit: all weight on the largest score, on the first of several.
// Throws Error{kInvalidArgument} on NaN, +infinity or a temperature that is negative or not finite.
std::vector<double> softmax(std::span<const double> scores, double temperature = 1);

// The same for every row, computed on whole columns.
Matrix softmax_rows(const Matrix& scores, double temperature = 1);

}  // namespace fovea
