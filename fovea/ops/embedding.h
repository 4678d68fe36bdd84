// Rows of a table by number.
#pragma once

#include <span>

#include "fovea/ops/tape.h"

namespace fovea::ops {

// [ids, dim] from `table` [entries, dim], which may also be BF16 or F16 if it is not watched.
// Throws Error{kInvalidArgument} for a number that the table does not have.
Value embedding(const Value& table, std::span<const int64_t> ids);

}  // namespace fovea::ops
