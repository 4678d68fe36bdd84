// The area of one owner in a picture whose patches belong to several.
#pragma once

#include "fovea/figure/figure.h"

namespace fovea {

struct OwnerArea {
  int64_t owner = 0;
  Tensor cells;         // 1 where it is the owner's, NaN elsewhere
  int64_t largest = 0;  // patches of its largest connected part
  CellMark marked;      // a cell of that part, near its middle
};

OwnerArea owner_area(const CompositeFigure& figure, int64_t owner);

}  // namespace fovea
