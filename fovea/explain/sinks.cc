#include "fovea/explain/sinks.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/column_mass.h"
#include "fovea/explain/pictures/artifacts.h"

namespace fovea {
namespace {

// How many rows must be able to see a position for its mean to count.
int64_t least_looks(const AttentionRecord& record) {
  const std::vector<double> looks = rows_that_look(record);
  const auto rows = static_cast<int64_t>(std::accumulate(looks.begin(), looks.end(), 0.0));
  return std::min(kLeastLooks, std::max<int64_t>((rows + 1) / 2, 1));
}

void check_sinks(std::span<const std::shared_ptr<const AttentionRecord>> layers, double threshold) {
  if (layers.empty()) fail(ErrorKind::kInvalidArgument, "sinks need at least one layer");
  if (!(threshold >= 0 && threshold <= 1)) {
    fail(ErrorKind::kInvalidArgument, "a mean weight above {} cannot be asked for; give 0 to 1",
         threshold);
  }
  const AttentionRecord& first = *layers.front();
  for (const auto& record : layers) {
    if (record->shape().cols == first.shape().cols) continue;
    fail(ErrorKind::kInvalidArgument, "{} has {} columns but {} has {}; sinks need the same",
         to_string(record->site), record->shape().cols, to_string(first.site), first.shape().cols);
  }
}

}  // namespace

double Sinks::share(int64_t position) const {
  return static_cast<double>(sink_in[static_cast<size_t>(position)]) / static_cast<double>(heads);
}

std::vector<int64_t> Sinks::positions() const {
  std::vector<int64_t> found;
  for (size_t k = 0; k < sink_in.size(); ++k) {
    if (sink_in[k] > 0) found.push_back(static_cast<int64_t>(k));
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [&](int64_t k) { return sink_in[static_cast<size_t>(k)]; });
  return found;
}

Sinks find_sinks(std::span<const std::shared_ptr<const AttentionRecord>> layers, double threshold) {
  check_sinks(layers, threshold);
  const auto positions = static_cast<size_t>(layers.front()->shape().cols);
  Sinks sinks{.sink_in = std::vector<int64_t>(positions),
              .mass_share = std::vector<double>(positions)};
  for (const auto& record : layers) {
    const std::vector<int64_t> looks = looks_allowed(*record);
    const int64_t least = least_looks(*record);
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      ++sinks.heads;
      const std::vector<double> sums = column_mass(record, head, ColumnTotal::kSum, 0);
      for (size_t k = 0; k < positions; ++k) {
        sinks.mass_share[k] += sums[k];
        const bool is_sink =
            looks[k] >= least && sums[k] > threshold * static_cast<double>(looks[k]);
        if (is_sink) ++sinks.sink_in[k];
      }
    }
  }
  const double all = std::accumulate(sinks.mass_share.begin(), sinks.mass_share.end(), 0.0);
  for (double& share : sinks.mass_share) share = all > 0 ? share / all : 0;
  return sinks;
}

double times_median(std::span<const double> norms, int64_t position) {
  const double median = median_of({norms.begin(), norms.end()});
  return median > 0 ? norms[static_cast<size_t>(position)] / median : 0;
}

}  // namespace fovea
