// A path through all cells of a grid on which neighbours stay neighbours: along it, what is near in
// the path is near in the picture, which is not so line by line.
#pragma once

#include <cstdint>
#include <vector>

namespace fovea {

// All cells, row * cols + col, in the order of the path. It begins in the first cell. On a square
// of 2^k cells it is Hilbert's curve (1891): every 4^m cells from a multiple of 4^m on are a
// square.
std::vector<int64_t> hilbert_order(int64_t rows, int64_t cols);

}  // namespace fovea
