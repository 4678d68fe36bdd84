// Otsu's threshold (1979): the level that splits a histogram into two classes whose means are
// furthest apart, weighted by the classes' sizes.
//
//   sigma^2(t) = w0(t) w1(t) (m0(t) - m1(t))^2,  class 0 is every level up to t
#pragma once

#include <cstdint>
#include <span>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

// The first level with the largest sigma^2; 0 if the histogram has fewer than two levels in use.
int64_t otsu_level(std::span<const int64_t> histogram);

// The cells above Otsu's level, after the weights are stretched from their least and largest to
// levels 0 to 255 (cut off, as a cast to bytes does). Empty if all weights are equal. Throws
// Error{kInvalidArgument} unless there is one finite weight per cell.
GridMask otsu_mask(GridShape grid, std::span<const double> weights);

}  // namespace fovea
