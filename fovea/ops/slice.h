// Parts of tensors, and tensors from parts. Negative axes count from the end.
#pragma once

#include <initializer_list>
#include <span>

#include "fovea/ops/tape.h"

namespace fovea::ops {

// Entries [begin, end) of one axis. Throws Error{kInvalidArgument} if they are not there.
Value slice(const Value& x, int axis, int64_t begin, int64_t end);

// One after the other along an axis; all other sizes must agree. At least one part.
Value concat(std::span<const Value> parts, int axis);
inline Value concat(std::initializer_list<Value> parts, int axis) {
  return concat(std::span<const Value>(parts.begin(), parts.size()), axis);
}

}  // namespace fovea::ops
