// Long products in blocks of rows, between which the work can be cancelled.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fovea {

// Calls body(first row, rows) so that all rows are covered once, in blocks of some 20 milliseconds
// of a few cores. A block has so many rows that dividing costs nothing; all but the last have the
// same.
template <typename Body>
void for_row_blocks(int64_t rows, int64_t row_products, const Body& body) {
  constexpr int64_t kBlockProducts = 2'000'000'000, kLeastRows = 64;
  const int64_t most = std::max(kLeastRows, kBlockProducts / row_products);
  const int64_t blocks = (rows + most - 1) / most;
  const int64_t step = ((rows + blocks - 1) / blocks + 15) / 16 * 16;
  for (int64_t row = 0; row < rows; row += step) body(row, std::min(step, rows - row));
}

}  // namespace fovea
