#include "fovea/explain/pictures/otsu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

int64_t otsu_level(std::span<const int64_t> histogram) {
  double count = 0;
  double moment = 0;
  for (size_t level = 0; level < histogram.size(); ++level) {
    count += static_cast<double>(histogram[level]);
    moment += static_cast<double>(level) * static_cast<double>(histogram[level]);
  }
  double lower_count = 0;
  double lower_moment = 0;
  double best = 0;
  int64_t best_level = 0;
  for (size_t level = 0; level < histogram.size(); ++level) {
    lower_count += static_cast<double>(histogram[level]);
    lower_moment += static_cast<double>(level) * static_cast<double>(histogram[level]);
    const double upper_count = count - lower_count;
    if (lower_count == 0 || upper_count == 0) continue;
    const double apart = lower_moment / lower_count - (moment - lower_moment) / upper_count;
    const double spread = lower_count * upper_count * apart * apart;
    if (spread <= best) continue;
    best = spread;
    best_level = static_cast<int64_t>(level);
  }
  return best_level;
}

GridMask otsu_mask(GridShape grid, std::span<const double> weights) {
  if (grid.patches() < 1 || static_cast<int64_t>(weights.size()) != grid.patches() ||
      !std::ranges::all_of(weights, [](double weight) { return std::isfinite(weight); })) {
    fail(ErrorKind::kInvalidArgument,
         "Otsu's threshold of {} x {} cells needs one finite weight for each, but {} were given",
         grid.rows, grid.cols, weights.size());
  }
  const auto [least, largest] = std::ranges::minmax(weights);
  GridMask mask(grid);
  if (!(largest > least)) return mask;
  std::vector<int64_t> levels;
  std::array<int64_t, 256> histogram{};
  for (const double weight : weights) {
    levels.push_back(static_cast<int64_t>((weight - least) / (largest - least) * 255));
    ++histogram[static_cast<size_t>(levels.back())];
  }
  const int64_t cut = otsu_level(histogram);
  for (size_t i = 0; i < levels.size(); ++i) mask.cells[i] = levels[i] > cut ? 1 : 0;
  return mask;
}

}  // namespace fovea
