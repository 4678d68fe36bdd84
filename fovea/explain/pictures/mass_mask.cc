#include "fovea/explain/pictures/mass_mask.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double checked_sum(GridShape grid, std::span<const double> weights) {
  if (static_cast<int64_t>(weights.size()) != grid.patches()) {
    fail(ErrorKind::kInvalidArgument, "{} weights were given for a grid of {} x {} patches",
         weights.size(), grid.rows, grid.cols);
  }
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) {
      fail(ErrorKind::kInvalidArgument,
           "patch {} has weight {}; a mask by mass needs finite weights of 0 or more", i,
           weights[i]);
    }
    sum += weights[i];
  }
  return sum;
}

}  // namespace

GridMask mass_mask(GridShape grid, std::span<const double> weights, double share) {
  if (!(share > 0 && share <= 1)) {
    fail(ErrorKind::kInvalidArgument,
         "a mask cannot hold a share of {} of the mass; give more than 0 and at most 1", share);
  }
  const double sum = checked_sum(grid, weights);
  GridMask mask(grid);
  if (sum == 0) return mask;
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weights[a] < weights[b]; });
  double below = 0;
  for (const size_t patch : order) {
    below += weights[patch] / sum;
    mask.cells[patch] = below > 1 - share ? 1 : 0;
  }
  return mask;
}

HeadMasks head_masks(GridShape grid, const Matrix& weights, double share) {
  HeadMasks masks;
  masks.strongest.assign(static_cast<size_t>(grid.patches()), -1);
  std::vector<double> largest(static_cast<size_t>(grid.patches()), -1.0);
  for (int64_t head = 0; head < weights.rows(); ++head) {
    const auto row = weights.row(head);
    masks.heads.push_back(mass_mask(grid, row, share));
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (size_t patch = 0; patch < row.size(); ++patch) {
      if (masks.heads.back().cells[patch] == 0 || row[patch] / sum <= largest[patch]) continue;
      largest[patch] = row[patch] / sum;
      masks.strongest[patch] = head;
    }
  }
  return masks;
}

}  // namespace fovea
