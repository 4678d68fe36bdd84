// Rotary position embedding.
#pragma once

#include "fovea/kernels/rotary.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

// Turns row i of every head of `x` [heads, rows, dim] (or [rows, dim]) by row i of the table.
// Throws Error{kInvalidArgument} if the table does not fit.
Value rotary(const Value& x, const RotaryTable& table, RotaryPairing pairing);

}  // namespace fovea::ops
