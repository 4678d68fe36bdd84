// Rows of a table by number.
#pragma once

#include <span>

#include "fovea/ops/tape.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea::ops {

// [ids, dim] from `table` [entries, dim]. Throws Error{kInvalidArgument} for a number that the
// table does not have.
Value embedding(const Value& table, std::span<const int64_t> ids);
// The form for models: of a table that stays as it is stored, the rows that are asked for.
Tensor embedding(const StoredMatrix& table, std::span<const int64_t> ids);

}  // namespace fovea::ops
