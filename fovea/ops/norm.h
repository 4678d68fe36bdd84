// Layer norm and RMS norm over the last axis.
#pragma once

#include "fovea/ops/tape.h"

namespace fovea::ops {

// As layer_norm_rows and rms_norm_rows of fovea/kernels/norm.h; weight and bias are [last axis] or
// left out (empty).
Value layer_norm(const Value& x, const Value& weight, const Value& bias, float epsilon);
Value rms_norm(const Value& x, const Value& weight, float epsilon);

}  // namespace fovea::ops
