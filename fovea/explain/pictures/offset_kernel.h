// Shows a head as the kernel of a convolution (Cordonnier et al. 2020, arXiv:1911.03584): how much
// patches give to others at the same offset, on average over all patches.
//
//   kernel(dr, dc) = mean over queries i of A(i, patch at offset (dr, dc) from i) / (what i gives
//   to
//                    all patches)
//
// A head that always looks one patch to the right has 1 at (0, +1). A head that looks at content
// gives a broad blob.
#pragma once

#include <optional>
#include <span>

#include "fovea/attention/matrix.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

struct KernelOptions {
  // The window is 2 * radius + 1 patches high and wide. None: a quarter of the grid's shorter side,
  // but at least 1 if that fits.
  std::optional<int64_t> radius;
};

struct OffsetKernel {
  int64_t radius = 0;
  Matrix weights;       // [2 * radius + 1, 2 * radius + 1]; offset 0 in the middle, down and right
  int64_t queries = 0;  // how many were averaged
  double inside = 0;    // share of a query's weight on patches within its window

  // These are for the kernel divided by its own sum.
  double centre_row = 0;  // mean offset
  double centre_col = 0;
  double spread = 0;   // root of the mean squared distance from there, in patches
  double level50 = 0;  // cells of at least this weight are the smallest set that holds 50 %
  double level90 = 0;
};

// Computes the kernel over the queries whose whole window lies in the picture, so that every cell
// is a mean of the same ones; those that give patches nothing are left out. Cost patches^2 *
// head_dim, memory of a block of rows. Throws Error{kInvalidArgument} on a negative radius, or if
// no query's window lies in the picture.
OffsetKernel offset_kernel(const AttentionMap& map, const PictureAxis& axis,
                           const KernelOptions& options = {});

// The largest level at which the weights at or above it hold `share` of the sum.
double mass_level(std::span<const double> weights, double share);

}  // namespace fovea
