// Softmax over the last axis.
#pragma once

#include "fovea/ops/tape.h"

namespace fovea::ops {

// Entries of -infinity get weight 0; where there is nothing else, all weights are 0.
Value softmax(const Value& x);

}  // namespace fovea::ops
