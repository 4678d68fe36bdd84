// Row loops that use several threads only when there is enough work for them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/base/parallel.h"

namespace fovea {

// Calls body(begin, end) so that the ranges cover [0, rows) once. A range has at least about 32k
// elements of work, `row_elements` each row: below that, waking a thread costs more than it saves.
template <typename Body>
void parallel_rows(int64_t rows, int64_t row_elements, const Body& body) {
  constexpr int64_t kRangeElements = 32768;
  const int64_t step = std::max<int64_t>(1, kRangeElements / std::max<int64_t>(1, row_elements));
  if (rows <= step) {
    if (rows > 0) body(int64_t{0}, rows);
    return;
  }
  parallel_for((rows + step - 1) / step,
               [&](int64_t range) { body(range * step, std::min(rows, (range + 1) * step)); });
}

}  // namespace fovea
