// Rows become columns.
#pragma once

#include "fovea/tensor/view.h"

namespace fovea {

// to(j, i) = from(i, j), in tiles that stay in the cache. `to` has the swapped sizes and may not
// overlap `from`.
void transpose_matrix(MatrixView<const float> from, MatrixView<float> to);

}  // namespace fovea
