// Sums and products of tensors.
#pragma once

#include "fovea/ops/tape.h"

namespace fovea::ops {

// `b` has the shape of `a`, or of its last axes and is then the same for all the others ([d] with
// [rows, d], a bias). Throws Error{kInvalidArgument} otherwise.
Value add(const Value& a, const Value& b);
Value multiply(const Value& a, const Value& b);
Value scale(const Value& a, float factor);
// Each number, cut off below `low` and above `high`.
Value clamp(const Value& a, float low, float high);

}  // namespace fovea::ops
