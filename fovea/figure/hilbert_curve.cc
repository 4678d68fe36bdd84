#include "fovea/figure/hilbert_curve.h"

#include <cstdlib>

namespace fovea {
namespace {

struct GridStep {
  int64_t row = 0;
  int64_t col = 0;

  GridStep operator+(GridStep other) const { return {row + other.row, col + other.col}; }
  GridStep operator-(GridStep other) const { return {row - other.row, col - other.col}; }
  GridStep operator-() const { return {-row, -col}; }
  int64_t length() const { return std::abs(row) + std::abs(col); }
  GridStep unit() const { return {(row > 0) - (row < 0), (col > 0) - (col < 0)}; }
  GridStep times(int64_t count) const { return {row * count, col * count}; }
};

// Half of a side. Sides of even length let the path leave a part where the next one begins.
GridStep half_of(GridStep side) {
  int64_t half = side.length() / 2;
  if (half % 2 == 1 && side.length() > 2) ++half;
  return side.unit().times(half);
}

// From a corner to the other end of `along`, through the rectangle that both sides span. A long one
// is cut in two; another one in three: up along `across`, over, and down again.
void walk(GridStep corner, GridStep along, GridStep across, int64_t cols,
          std::vector<int64_t>& path) {
  const int64_t length = along.length(), width = across.length();
  if (length == 1 || width == 1) {
    const GridStep side = width == 1 ? along : across;
    for (int64_t i = 0; i < side.length(); ++i) {
      const GridStep cell = corner + side.unit().times(i);
      path.push_back(cell.row * cols + cell.col);
    }
    return;
  }
  const GridStep half = half_of(along);
  if (2 * length > 3 * width) {
    walk(corner, half, across, cols, path);
    return walk(corner + half, along - half, across, cols, path);
  }
  const GridStep up = half_of(across);
  walk(corner, up, half, cols, path);
  walk(corner + up, along, across - up, cols, path);
  walk(corner + along - along.unit() + up - up.unit(), -up, half - along, cols, path);
}

}  // namespace

// For any rectangle: after J. Červený, "gilbert: space-filling curve for rectangular domains of
// arbitrary size" (2018).
std::vector<int64_t> hilbert_order(int64_t rows, int64_t cols) {
  std::vector<int64_t> path;
  if (rows < 1 || cols < 1) return path;
  path.reserve(static_cast<size_t>(rows * cols));
  if (cols >= rows) {
    walk({0, 0}, {0, cols}, {rows, 0}, cols, path);
  } else {
    walk({0, 0}, {rows, 0}, {0, cols}, cols, path);
  }
  return path;
}

}  // namespace fovea
