// The part of a picture that a model saw, small enough to keep and to draw.
#pragma once

#include "fovea/vision/patch_grid.h"
#include "fovea/vision/picture.h"

namespace fovea {

inline constexpr int64_t kLongestSeenSide = 448;

// The part under the grid, so that every cell shows an equal part of it. Its longer side has at
// most `longest` pixels; padding is grey. `grid` must be that of `picture`.
Picture seen_part(const Picture& picture, const PatchGrid& grid,
                  int64_t longest = kLongestSeenSide);

// The same grid over such a part.
PatchGrid grid_over(PictureSize seen, int64_t rows, int64_t columns);

}  // namespace fovea
