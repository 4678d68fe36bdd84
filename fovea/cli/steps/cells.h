// Vectors and sums of a model for the terminal: strips of cells, bars to both sides, a line of
// text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/cli/table.h"
#include "fovea/cli/terminal.h"

namespace fovea {

// How many numbers share a cell where `count` have `columns` to fit into.
int64_t numbers_per_cell(size_t count, int columns);

// One cell per number, or the one farthest from 0 of `per_cell` neighbours: blue below 0 and red
// above, as far as `largest`; without colours bars that rise from -largest to +largest.
TextLine strip(std::span<const double> values, double largest, int64_t per_cell,
               const Terminal& terminal);
// What the cells mean.
std::string strip_legend(const Terminal& terminal);

// From 0 to the right.
TextLine share_bar(double share, int columns, const Terminal& terminal);
// From a line to the right, up to `right` columns, or below 0 to the left.
TextLine signed_bar(double share, int left, int right, const Terminal& terminal);

// One line of the text around a position, as much as fits, with the position marked. Empty if it
// stands for no text.
std::string marked_text(const Axis& axis, int64_t index, const Terminal& terminal);

}  // namespace fovea
