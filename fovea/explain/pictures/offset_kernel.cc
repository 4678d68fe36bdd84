#include "fovea/explain/pictures/offset_kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Sums over queries whose window lies in the picture.
struct KernelSums {
  GridShape grid;
  int64_t radius;
  Matrix sums;
  int64_t queries = 0;
  double inside = 0;

  KernelSums(GridShape shape, int64_t window_radius)
      : grid(shape), radius(window_radius), sums(2 * window_radius + 1, 2 * window_radius + 1) {}

  bool fits(int64_t row, int64_t col) const {
    return row >= radius && row + radius < grid.rows && col >= radius && col + radius < grid.cols;
  }

  void add(int64_t patch, std::span<const float> weights) {
    const int64_t row = grid.row_of(patch);
    const int64_t col = grid.col_of(patch);
    if (!fits(row, col)) return;
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (whole <= 0) return;
    ++queries;
    for (int64_t r = row - radius; r <= row + radius; ++r) {
      for (int64_t c = col - radius; c <= col + radius; ++c) {
        const double weight = double{weights[static_cast<size_t>(r * grid.cols + c)]} / whole;
        sums(r - row + radius, c - col + radius) += weight;
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
  if (radius < 0 || 2 * radius >= shorter) {
    fail(ErrorKind::kInvalidArgument,
         "a window of radius {} does not fit a grid of {} x {}; give a smaller radius", radius,
         grid.rows, grid.cols);
  }
  KernelSums sums(grid, radius);
  for_each_patch_row(map, axis,
                     [&](int64_t patch, std::span<const float> row) { sums.add(patch, row); });
  OffsetKernel kernel;
  kernel.radius = radius;
  kernel.queries = sums.queries;
  kernel.inside = sums.queries == 0 ? 0 : sums.inside / static_cast<double>(sums.queries);
  kernel.weights = std::move(sums.sums);
  for (int64_t r = 0; r < kernel.weights.rows() && kernel.queries > 0; ++r) {
    for (double& weight : kernel.weights.row(r)) weight /= static_cast<double>(kernel.queries);
  }
  describe(kernel);
  return kernel;
}

}  // namespace fovea
