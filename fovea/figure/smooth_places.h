// Places on the colours between the cells of a grid. Nobody computed what lies there, so this is
// drawn only where it is asked for.
#pragma once

#include "fovea/figure/figure.h"
#include "fovea/tensor/view.h"

namespace fovea {

// Of each cell its place on the scale, from 0 to 1; in between a bicubic curve (Catmull and Rom)
// through the cells' centres, kept within 0 to 1. A cell that is NaN has the place without colour.
class SmoothPlaces {
 public:
  SmoothPlaces(MatrixView<const float> weights, const ColorScale& scale);

  // At a point counted in cells from the upper left corner of the grid.
  double at(double row, double col) const;

 private:
  int64_t rows_;
  int64_t cols_;
  std::vector<double> places_;
};

}  // namespace fovea
