// The smallest set of patches that holds a share of the attention (DINO, Caron et al. 2021,
// arXiv:2104.14294): the mask that its pictures show at a share of 0.6.
//
// Weights in ascending order, divided by their sum; a patch is in the set if the running sum up to
// and with it is above 1 - share. Of equal weights at the edge those of later patches are taken.
#pragma once

#include <span>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

inline constexpr double kMassShare = 0.6;

// `weights` has one number of 0 or more per patch; what specials receive is left out before. The
// mask is empty where all weights are 0. Throws Error{kInvalidArgument} on other weights or a share
// outside of (0, 1].
GridMask mass_mask(GridShape grid, std::span<const double> weights, double share = kMassShare);

// A mask per head, and for a picture in which each head has a colour: the head that owns a patch.
struct HeadMasks {
  std::vector<GridMask> heads;
  // Per patch: of the heads whose mask holds it the one that gives it the largest part of its own
  // sum, the first of equals; -1 where no mask holds it.
  std::vector<int64_t> strongest;
};
// `weights` is [heads, patches].
HeadMasks head_masks(GridShape grid, const Matrix& weights, double share = kMassShare);

}  // namespace fovea
