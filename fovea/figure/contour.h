// The line around the cells that hold most of a map.
#pragma once

#include <vector>

#include "fovea/figure/geometry.h"
#include "fovea/tensor/view.h"

namespace fovea {

// True for the fewest cells, row by row, whose weights make up `share` of all; forbidden cells and
// zeros are never among them.
std::vector<bool> cells_with_mass(MatrixView<const float> weights, double share);

// The edges between the cells of `cells`, row by row, and all others, in units of cells:
// straight pieces along the grid.
std::vector<std::vector<Point>> edges_of(const std::vector<bool>& cells, int64_t rows,
                                         int64_t cols);

// Those of the cells with mass. A weight belongs to a whole cell, so nothing is rounded off.
std::vector<std::vector<Point>> mass_contour(MatrixView<const float> weights, double share);

}  // namespace fovea
