// Rows of a table by number.
#pragma once

#include <span>

#include "fovea/tensor/stored_matrix.h"

namespace fovea::ops {

// [ids, dim] from `table` [entries, dim], which stays as it is stored. Throws
// Error{kInvalidArgument} for a number that the table does not have.
Tensor embedding(const StoredMatrix& table, std::span<const int64_t> ids);

}  // namespace fovea::ops
