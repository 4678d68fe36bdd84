#include "fovea/explain/faithfulness/removal_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fovea {
namespace {

// The first `count` of the order gone, or all others.
std::vector<bool> taken_of(std::span<const size_t> order, size_t count, bool others) {
  std::vector<bool> taken(order.size(), others);
  for (size_t i = 0; i < count; ++i) taken[order[i]] = !others;
  return taken;
}

RemovalCurve curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps, bool others) {
  RemovalCurve result;
  for (const size_t count : curve_points(order.size(), steps)) {
    result.shares.push_back(static_cast<double>(count) / static_cast<double>(order.size()));
    result.values.push_back(runs.value_without(taken_of(order, count, others)));
  }
  return result;
}

double mean_loss(RemovalRuns& runs, std::span<const size_t> order, bool others) {
  const double clean = runs.clean_value();
  double sum = 0;
  for (const double threshold : kThresholds) {
    const double count = std::max(1.0, std::round(threshold * static_cast<double>(order.size())));
    sum += clean - runs.value_without(taken_of(order, static_cast<size_t>(count), others));
  }
  return sum / static_cast<double>(std::size(kThresholds));
}

}  // namespace

double area_under(const RemovalCurve& curve) {
  double area = 0;
  for (size_t i = 1; i < curve.shares.size(); ++i) {
    area += (curve.shares[i] - curve.shares[i - 1]) * (curve.values[i] + curve.values[i - 1]) / 2;
  }
  return area;
}

std::vector<size_t> order_of(std::span<const double> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return scores[i]; });
  return order;
}

std::vector<size_t> curve_points(size_t count, int64_t steps) {
  const size_t parts = std::min(count, static_cast<size_t>(steps));
  std::vector<size_t> points{0};
  for (size_t i = 1; i <= parts; ++i) points.push_back((2 * i * count + parts) / (2 * parts));
  return points;
}

RemovalCurve deletion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps) {
  return curve(runs, order, steps, /*others=*/false);
}

RemovalCurve insertion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps) {
  return curve(runs, order, steps, /*others=*/true);
}

double comprehensiveness(RemovalRuns& runs, std::span<const size_t> order) {
  return mean_loss(runs, order, /*others=*/false);
}

double sufficiency(RemovalRuns& runs, std::span<const size_t> order) {
  return mean_loss(runs, order, /*others=*/true);
}

double infidelity(std::span<const double> sums, std::span<const double> losses) {
  double product = 0, square_sums = 0, square_losses = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    product += sums[i] * losses[i];
    square_sums += sums[i] * sums[i];
    square_losses += losses[i] * losses[i];
  }
  if (square_losses == 0) return std::numeric_limits<double>::quiet_NaN();
  const double factor = square_sums > 0 ? std::max(0.0, product / square_sums) : 0;
  double wrong = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double apart = factor * sums[i] - losses[i];
    wrong += apart * apart;
  }
  return wrong / square_losses;
}

}  // namespace fovea
