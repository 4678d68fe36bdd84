// Cells that hold most of a map: how many they are, and the line around them.
#pragma once

#include <string>
#include <vector>

#include "fovea/figure/figure.h"
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

// "half in 15, 90 % in 87 of 784": how many cells hold so much of the weight. Empty where there is
// none.
std::string mass_note(MatrixView<const float> weights);

// Whether marked cells have at most 3 parts; cells that share a side belong together.
bool has_few_parts(const std::vector<bool>& cells, int64_t rows, int64_t cols);
// Whether they are an area that a line may go around: 8 or more in few parts, at most a quarter of
// the grid.
bool is_area(const std::vector<bool>& cells, int64_t rows, int64_t cols);

// The line that the figure has in this panel; empty where there is none.
std::vector<std::vector<Point>> contour_of(const ImageFigure& figure, const ImagePanel& panel);

// The edges around the cells with that mass. A weight belongs to a whole cell, so corners are not
// rounded.
std::vector<std::vector<Point>> mass_contour(MatrixView<const float> weights, double share);

}  // namespace fovea
