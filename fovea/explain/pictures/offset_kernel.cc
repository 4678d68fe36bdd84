#include "fovea/explain/pictures/offset_kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Sums over queries, and how many queries had a patch at each offset.
struct KernelSums {
  GridShape grid;
  int64_t radius;
  BorderRule border;
  Matrix sums;
  Matrix counts;
  int64_t queries = 0;
  double inside = 0;

  KernelSums(GridShape shape, int64_t window_radius, BorderRule rule)
      : grid(shape),
        radius(window_radius),
        border(rule),
        sums(2 * window_radius + 1, 2 * window_radius + 1),
        counts(2 * window_radius + 1, 2 * window_radius + 1) {}

  bool fits(int64_t row, int64_t col) const {
    return row >= radius && row + radius < grid.rows && col >= radius && col + radius < grid.cols;
  }

  void add(int64_t patch, std::span<const float> weights) {
    const int64_t row = grid.row_of(patch);
    const int64_t col = grid.col_of(patch);
    if (border == BorderRule::kWholeWindow && !fits(row, col)) return;
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (whole <= 0) return;
    ++queries;
    for (int64_t r = std::max<int64_t>(row - radius, 0); r <= std::min(row + radius, grid.rows - 1);
         ++r) {
      for (int64_t c = std::max<int64_t>(col - radius, 0);
           c <= std::min(col + radius, grid.cols - 1); ++c) {
        const double weight = double{weights[static_cast<size_t>(r * grid.cols + c)]} / whole;
        sums(r - row + radius, c - col + radius) += weight;
        counts(r - row + radius, c - col + radius) += 1;
        inside += weight;
      }
    }
  }
};

void describe(OffsetKernel& kernel) {
  const auto weights = kernel.weights.values();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  kernel.level50 = mass_level(weights, 0.5);
  kernel.level90 = mass_level(weights, 0.9);
  if (sum <= 0) return;
  double squares = 0;
  for (int64_t r = 0; r < kernel.weights.rows(); ++r) {
    for (int64_t c = 0; c < kernel.weights.cols(); ++c) {
      const double share = kernel.weights(r, c) / sum;
      const auto down = static_cast<double>(r - kernel.radius);
      const auto right = static_cast<double>(c - kernel.radius);
      kernel.centre_row += share * down;
      kernel.centre_col += share * right;
      squares += share * (down * down + right * right);
    }
  }
  kernel.spread = std::sqrt(std::max(0.0, squares - kernel.centre_row * kernel.centre_row -
                                              kernel.centre_col * kernel.centre_col));
}

}  // namespace

double mass_level(std::span<const double> weights, double share) {
  std::vector<double> sorted(weights.begin(), weights.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  // Sums of shares are off in the last digits; a share is reached up to those.
  const double wanted = share * std::accumulate(sorted.begin(), sorted.end(), 0.0) * (1 - 1e-12);
  double sum = 0;
  for (const double weight : sorted) {
    sum += weight;
    if (sum >= wanted) return weight;
  }
  return 0;
}

OffsetKernel offset_kernel(const AttentionMap& map, const PictureAxis& axis,
                           const KernelOptions& options) {
  const GridShape grid = axis.grid;
  const int64_t shorter = std::min(grid.rows, grid.cols);
  const int64_t radius =
      options.radius.value_or(std::min(std::max<int64_t>(shorter / 4, 1), (shorter - 1) / 2));
  const bool whole = options.border == BorderRule::kWholeWindow;
  if (radius < 0 || radius >= std::max(grid.rows, grid.cols) || (whole && 2 * radius >= shorter)) {
    fail(ErrorKind::kInvalidArgument,
         "a window of radius {} does not fit a grid of {} x {}; give a smaller radius{}", radius,
         grid.rows, grid.cols, whole ? " or average each offset by itself" : "");
  }
  KernelSums sums(grid, radius, options.border);
  for_each_patch_row(map, axis,
                     [&](int64_t patch, std::span<const float> row) { sums.add(patch, row); });
  OffsetKernel kernel;
  kernel.radius = radius;
  kernel.queries = sums.queries;
  kernel.inside = sums.queries == 0 ? 0 : sums.inside / static_cast<double>(sums.queries);
  kernel.weights = sums.sums;
  for (int64_t r = 0; r < kernel.weights.rows(); ++r) {
    for (int64_t c = 0; c < kernel.weights.cols(); ++c) {
      if (sums.counts(r, c) > 0) kernel.weights(r, c) /= sums.counts(r, c);
    }
  }
  describe(kernel);
  return kernel;
}

}  // namespace fovea
