#include "fovea/explain/pictures/receptive_field.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

double mass_radius(GridShape grid, std::span<const double> weights, int64_t patch, double share) {
  if (static_cast<int64_t>(weights.size()) != grid.patches() || patch < 0 ||
      patch >= grid.patches() || !(share > 0 && share <= 1)) {
    fail(ErrorKind::kInvalidArgument,
         "the radius that holds {} around patch {} cannot be had from {} weights on a grid of {} x "
         "{}",
         share, patch, weights.size(), grid.rows, grid.cols);
  }
  std::vector<std::pair<int64_t, double>> by_distance;  // squared
  for (int64_t other = 0; other < grid.patches(); ++other) {
    const int64_t down = grid.row_of(other) - grid.row_of(patch);
    const int64_t right = grid.col_of(other) - grid.col_of(patch);
    by_distance.emplace_back(down * down + right * right, weights[static_cast<size_t>(other)]);
  }
  std::stable_sort(by_distance.begin(), by_distance.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Sums of shares are off in the last digits; a share is reached up to those.
  const double wanted = share * std::accumulate(weights.begin(), weights.end(), 0.0) * (1 - 1e-12);
  double sum = 0;
  for (const auto& [square, weight] : by_distance) {
    sum += weight;
    if (sum >= wanted) return std::sqrt(static_cast<double>(square));
  }
  return by_distance.empty() ? 0 : std::sqrt(static_cast<double>(by_distance.back().first));
}

ReceptiveField receptive_field(const PictureAxis& axis, std::span<const double> over_positions,
                               int64_t patch, double patch_size) {
  const auto weights = axis.patches_of(over_positions);
  return {.radius50 = patch_size * mass_radius(axis.grid, weights, patch, 0.5),
          .radius90 = patch_size * mass_radius(axis.grid, weights, patch, 0.9),
          .grid_mass = std::accumulate(weights.begin(), weights.end(), 0.0)};
}

}  // namespace fovea
