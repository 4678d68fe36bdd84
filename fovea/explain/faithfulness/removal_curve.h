// Takes positions away in the order of an explanation and measures the answer: deletion and
// insertion (Petsiuk et al. 2018), comprehensiveness and sufficiency (DeYoung et al. 2020).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/explain/faithfulness/removal.h"

namespace fovea {

// The answer's value along the way.
struct RemovalCurve {
  std::vector<double> shares;  // positions taken away, or shown again: 0 to 1
  std::vector<double> values;
};

// The area by the trapezoid rule. For even steps: (sum y - y_first / 2 - y_last / 2) / steps.
double area_under(const RemovalCurve& curve);

// The places of the scores, largest first; of ties the first.
std::vector<size_t> order_of(std::span<const double> scores);

// How many of `count` positions are gone at each point: 0, then about count / steps more each time,
// at last all. No point occurs twice, so few positions give fewer steps.
std::vector<size_t> curve_points(size_t count, int64_t steps);

// Begins with the clean input and takes away the first of the order first.
RemovalCurve deletion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps);
// Begins without any position and shows the first of the order again first.
RemovalCurve insertion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps);

// ERASER's thresholds: shares of the positions, each at least one position.
inline constexpr double kThresholds[] = {0.01, 0.05, 0.1, 0.2, 0.5};

// What the answer loses without the first positions of the order: the mean over the thresholds.
double comprehensiveness(RemovalRuns& runs, std::span<const size_t> order);
// What the answer loses with only these positions: the mean over the thresholds.
double sufficiency(RemovalRuns& runs, std::span<const size_t> order);

// How badly sums of scores predict what the answer loses without those positions (Yeh et al. 2019).
// The scores are first multiplied by the best factor that is 0 or more. The result is the mean
// square error as a share of the mean square lost. 0: exact; 1: no better than predicting nothing.
// NaN if nothing is ever lost.
double infidelity(std::span<const double> sums, std::span<const double> losses);

}  // namespace fovea
