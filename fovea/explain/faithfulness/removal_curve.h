// Taking positions away in the order of an explanation, and what that says about it: deletion and
// insertion (Petsiuk et al. 2018), comprehensiveness and sufficiency (DeYoung et al. 2020).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/explain/faithfulness/removal.h"

namespace fovea {

// The answer's value along the way.
struct RemovalCurve {
  std::vector<double> shares;  // of positions taken away, or shown again: from 0 to 1
  std::vector<double> values;
};

// The trapezoid: for even steps (sum y - y_first / 2 - y_last / 2) / steps.
double area_under(const RemovalCurve& curve);

// Places of the scores, the largest first; of ties the one that stands first.
std::vector<size_t> order_of(std::span<const double> scores);

// How many of `count` are gone at each point: 0, then about count / steps more each time, all. No
// point twice: fewer steps where there are fewer positions.
std::vector<size_t> curve_points(size_t count, int64_t steps);

// From the clean input, the first of the order taken away first.
RemovalCurve deletion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps);
// From an input without any position, the first of the order shown again first.
RemovalCurve insertion_curve(RemovalRuns& runs, std::span<const size_t> order, int64_t steps);

// ERASER's thresholds: shares of the positions, at least one position each.
inline constexpr double kThresholds[] = {0.01, 0.05, 0.1, 0.2, 0.5};

// What the answer loses without the first of the order: the plain mean over the thresholds.
double comprehensiveness(RemovalRuns& runs, std::span<const size_t> order);
// What it loses with these alone: the plain mean over the thresholds.
double sufficiency(RemovalRuns& runs, std::span<const size_t> order);

// How badly sums of scores tell what the answer loses without those positions (Yeh et al. 2019),
// scores first scaled as suits them best, by a factor of 0 or more: the mean square of what is told
// wrong as a share of the mean square lost. 0: exactly; 1: no better than telling nothing. NaN if
// nothing is ever lost.
double infidelity(std::span<const double> sums, std::span<const double> losses);

}  // namespace fovea
