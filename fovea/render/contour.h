// The line around the cells that hold most of a map.
#pragma once

#include <vector>

#include "fovea/render/canvas.h"
#include "fovea/tensor/view.h"

namespace fovea {

// True for the fewest cells, row by row, whose weights make up `share` of all; forbidden cells and
// zeros are never among them.
std::vector<bool> cells_with_mass(MatrixView<const float> weights, double share);

// The edges between those cells and all others, in units of cells: straight pieces along the grid,
// because a weight belongs to a whole cell.
std::vector<std::vector<Point>> mass_contour(MatrixView<const float> weights, double share);

}  // namespace fovea
