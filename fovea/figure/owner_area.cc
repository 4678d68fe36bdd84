#include "fovea/figure/owner_area.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

OwnerArea owner_area(const CompositeFigure& figure, int64_t owner) {
  const auto owners = figure.owners.matrix<float>();
  OwnerArea area{.owner = owner, .cells = Tensor::uninitialized({owners.rows, owners.cols})};
  GridMask mask(GridShape{owners.rows, owners.cols});
  for (int64_t i = 0; i < mask.grid.patches(); ++i) {
    const bool own = owners(mask.grid.row_of(i), mask.grid.col_of(i)) == static_cast<float>(owner);
    mask.cells[static_cast<size_t>(i)] = own ? 1 : 0;
    area.cells.mutable_values<float>()[static_cast<size_t>(i)] =
        own ? 1 : std::numeric_limits<float>::quiet_NaN();
  }
  const GridMask part = largest_component(mask);
  area.largest = part.count();
  double row = 0, col = 0;
  for (int64_t i = 0; i < mask.grid.patches(); ++i) {
    if (!part.holds(i)) continue;
    row += static_cast<double>(mask.grid.row_of(i));
    col += static_cast<double>(mask.grid.col_of(i));
  }
  const double count = std::max<double>(1, static_cast<double>(area.largest));
  double nearest = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < mask.grid.patches(); ++i) {
    if (!part.holds(i)) continue;
    const double distance = std::hypot(static_cast<double>(mask.grid.row_of(i)) - row / count,
                                       static_cast<double>(mask.grid.col_of(i)) - col / count);
    if (distance >= nearest) continue;
    nearest = distance;
    area.marked = {mask.grid.row_of(i), mask.grid.col_of(i)};
  }
  return area;
}

}  // namespace fovea
