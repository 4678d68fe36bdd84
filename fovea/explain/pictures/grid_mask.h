// Sets of patches, their connected parts and the boxes around them.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// One byte per patch, 1 in the set and 0 outside.
struct GridMask {
  GridShape grid;
  std::vector<uint8_t> cells;

  GridMask() = default;
  explicit GridMask(GridShape shape) : grid(shape), cells(static_cast<size_t>(shape.patches())) {}

  bool holds(int64_t patch) const { return cells[static_cast<size_t>(patch)] != 0; }
  int64_t count() const;
  bool operator==(const GridMask&) const = default;
};

// Rows [top, bottom) and columns [left, right) of a grid.
struct GridBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t bottom = 0;
  int64_t right = 0;

  bool operator==(const GridBox&) const = default;
};

// The part of the mask that is connected with `seed` along edges (not corners). Empty if the mask
// does not hold the seed. Throws Error{kInvalidArgument} on a patch outside of the grid.
GridMask component_of(const GridMask& mask, int64_t seed);
// The connected part with the most patches; of equals the first, row by row.
GridMask largest_component(const GridMask& mask);
// The smallest box that holds the mask; all 0 if it is empty.
GridBox box_of(const GridMask& mask);

}  // namespace fovea
