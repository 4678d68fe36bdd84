// How far a patch looks through all layers: its rollout row as a blob on the grid, and the radius
// that holds half and nine tenths of it. For convolutions the effective receptive field (Luo et al.
// 2016, arXiv:1701.04128) grows with the square root of the depth; this is the same question asked
// of attention.
#pragma once

#include <span>

#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// The smallest distance, in patches from centre to centre, within which the patches around `patch`
// hold `share` of the sum of all weights; 0 if there is none. Throws Error{kInvalidArgument} on a
// patch outside of the grid, weights that do not fit it, or a share outside of (0, 1].
double mass_radius(GridShape grid, std::span<const double> weights, int64_t patch, double share);

struct ReceptiveField {
  double radius50 = 0;  // in pixels, or in patches with patch_size 1
  double radius90 = 0;
  double grid_mass = 0;  // what lies on patches at all; the rest is on special tokens
};

// `over_positions` is a rollout row of position axis.specials + patch.
ReceptiveField receptive_field(const PictureAxis& axis, std::span<const double> over_positions,
                               int64_t patch, double patch_size = 1);

}  // namespace fovea
