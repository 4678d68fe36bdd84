// What ops ask of their arguments, each in one place. All throw Error{kInvalidArgument} naming the
// op.
#pragma once

#include "fovea/ops/tape.h"

namespace fovea::ops {

void require_f32(const char* op, const Value& value);
void require_rank(const char* op, const Value& value, int rank);
// `vector` is [size], or empty where that is allowed.
void require_vector(const char* op, const Value& vector, int64_t size);
// The axis as a number from 0 on; negative ones count from the end.
int checked_axis(const char* op, const Value& value, int axis);

}  // namespace fovea::ops
