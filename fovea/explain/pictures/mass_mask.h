// The smallest set of patches that holds a given share of the attention. DINO's pictures show this
// mask at a share of 0.6 (Caron et al. 2021, arXiv:2104.14294).
//
// Weights are sorted upwards and divided by their sum. A patch is in the set if the running sum,
// its own weight included, is above 1 - share. Of equal weights at the edge, those of later patches
// are taken.
#pragma once

#include <span>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

inline constexpr double kMassShare = 0.6;

// `weights` has one number of 0 or more per patch; leave special tokens out. The mask is empty if
// all weights are 0. Throws Error{kInvalidArgument} on other weights or a share outside of (0, 1].
GridMask mass_mask(GridShape grid, std::span<const double> weights, double share = kMassShare);

// The masks of all heads, and, for a picture in which each head has a colour, the head that owns
// each patch.
struct HeadMasks {
  std::vector<GridMask> heads;
  // The owner of each patch. Among the heads whose mask holds it, it is the one that gives it the
  // largest part of its own sum, the first of equals. -1 if no mask holds the patch.
  std::vector<int64_t> strongest;
};
// `weights` is [heads, patches].
HeadMasks head_masks(GridShape grid, const Matrix& weights, double share = kMassShare);

}  // namespace fovea
