// Turns sets of patches into pixels and boxes of the picture that was given.
#pragma once

#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/explain/pictures/picture_score.h"
#include "fovea/vision/label_mask.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

// A mask as large as the original picture. A pixel is `label` if one of the mask's patches shows
// its centre, and 0 elsewhere, also where the model does not see the picture. Throws
// Error{kInvalidArgument} if the grids differ.
LabelMask pixel_mask(const PatchGrid& grid, const GridMask& mask, uint8_t label = 1);

// The box in pixels; empty for an empty box. Throws Error{kInvalidArgument} if it leaves the grid.
PictureBox pixel_box(const PatchGrid& grid, const GridBox& box);

}  // namespace fovea
