// The same elements under another shape or in another order.
#pragma once

#include "fovea/ops/tape.h"

namespace fovea::ops {

// Shares the elements. Throws Error{kInvalidArgument} if their number would change.
Value reshape(const Value& x, Shape shape);
// Swaps two axes; negative ones count from the end.
Value transpose(const Value& x, int axis_a, int axis_b);
// [rows, heads * dim] -> [heads, rows, dim]
Value split_heads(const Value& x, int64_t heads);
// [heads, rows, dim] -> [rows, heads * dim]
Value merge_heads(const Value& x);

}  // namespace fovea::ops
