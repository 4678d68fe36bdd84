// Draws a line around the cells that hold most of a map.
#pragma once

#include <vector>

#include "fovea/figure/geometry.h"
#include "fovea/tensor/view.h"

namespace fovea {

// Marks, row by row, the fewest cells whose weights make up `share` of all. Forbidden cells and
// zeros are never marked.
std::vector<bool> cells_with_mass(MatrixView<const float> weights, double share);

// The edges between the marked `cells` (row by row) and all others, in units of cells: straight
// pieces along the grid.
std::vector<std::vector<Point>> edges_of(const std::vector<bool>& cells, int64_t rows,
                                         int64_t cols);

// The edges around the cells with that mass. A weight belongs to a whole cell, so corners are not
// rounded.
std::vector<std::vector<Point>> mass_contour(MatrixView<const float> weights, double share);

}  // namespace fovea
