#include "fovea/explain/faithfulness/resampling.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fovea {
namespace {

constexpr double kTail = 0.025;

double mean_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

uint64_t Draws::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t bits = state_;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

double Draws::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

Interval spread_of(std::span<const double> values) {
  return {mean_of(values), quantile(values, kTail), quantile(values, 1 - kTail)};
}

Interval bootstrap_mean(std::span<const double> values, int64_t resamples, uint64_t seed) {
  if (values.empty()) return spread_of(values);
  Draws draws(seed);
  std::vector<double> means;
  for (int64_t i = 0; i < resamples; ++i) {
    double sum = 0;
    for (size_t j = 0; j < values.size(); ++j) sum += values[draws.below(values.size())];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  const Interval spread = spread_of(means);
  return {mean_of(values), spread.low, spread.high};
}

}  // namespace fovea
