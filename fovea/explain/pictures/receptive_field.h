// How far a patch looks through all layers: its rollout row as a blob on the grid, and the radii
// that hold half and nine tenths of it. In convolutional networks the effective receptive field
// (Luo et al. 2016, arXiv:1701.04128) grows with the square root of the depth. This asks the same
// of attention.
#pragma once

#include <span>

#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// The smallest distance within which the patches around `patch` hold `share` of the sum of all
// weights, in patches from centre to centre; 0 if the sum is 0. Throws Error{kInvalidArgument} on a
// patch outside of the grid, weights that do not fit it, or a share outside of (0, 1].
double mass_radius(GridShape grid, std::span<const double> weights, int64_t patch, double share);

struct ReceptiveField {
  double radius50 = 0;  // in pixels, or in patches with patch_size 1
  double radius90 = 0;
  double grid_mass = 0;  // share of weight on patches; special tokens have the rest
};

// `over_positions` is the rollout row of position axis.specials + patch.
ReceptiveField receptive_field(const PictureAxis& axis, std::span<const double> over_positions,
                               int64_t patch, double patch_size = 1);

}  // namespace fovea
