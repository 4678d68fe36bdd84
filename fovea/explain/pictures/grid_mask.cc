#include "fovea/explain/pictures/grid_mask.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

int64_t GridMask::count() const {
  return std::count_if(cells.begin(), cells.end(), [](uint8_t cell) { return cell != 0; });
}

GridMask component_of(const GridMask& mask, int64_t seed) {
  const GridShape grid = mask.grid;
  if (seed < 0 || seed >= grid.patches()) {
    fail(ErrorKind::kInvalidArgument, "there is no patch {} in a grid of {} x {}", seed, grid.rows,
         grid.cols);
  }
  GridMask part(grid);
  std::vector<int64_t> open;
  const auto reach = [&](int64_t patch) {
    if (!mask.holds(patch) || part.holds(patch)) return;
    part.cells[static_cast<size_t>(patch)] = 1;
    open.push_back(patch);
  };
  reach(seed);
  while (!open.empty()) {
    const int64_t patch = open.back();
    open.pop_back();
    if (grid.row_of(patch) > 0) reach(patch - grid.cols);
    if (grid.row_of(patch) + 1 < grid.rows) reach(patch + grid.cols);
    if (grid.col_of(patch) > 0) reach(patch - 1);
    if (grid.col_of(patch) + 1 < grid.cols) reach(patch + 1);
  }
  return part;
}

GridMask largest_component(const GridMask& mask) {
  GridMask largest(mask.grid);
  GridMask left = mask;
  for (int64_t patch = 0; patch < mask.grid.patches(); ++patch) {
    if (!left.holds(patch)) continue;
    GridMask part = component_of(left, patch);
    for (size_t i = 0; i < part.cells.size(); ++i) {
      if (part.cells[i] != 0) left.cells[i] = 0;
    }
    if (part.count() > largest.count()) largest = std::move(part);
  }
  return largest;
}

GridBox box_of(const GridMask& mask) {
  GridBox box{mask.grid.rows, mask.grid.cols, 0, 0};
  for (int64_t patch = 0; patch < mask.grid.patches(); ++patch) {
    if (!mask.holds(patch)) continue;
    const int64_t row = mask.grid.row_of(patch);
    const int64_t col = mask.grid.col_of(patch);
    box = {std::min(box.top, row), std::min(box.left, col), std::max(box.bottom, row + 1),
           std::max(box.right, col + 1)};
  }
  return box.bottom == 0 ? GridBox{} : box;
}

}  // namespace fovea
