// How well two lists of numbers agree on an order.
#pragma once

#include <span>
#include <vector>

namespace fovea {

// Kendall's tau-b, -1 to 1: among pairs that neither list ties, how many more stand in the same
// order than in opposite orders, corrected for ties. NaN if a list is constant. n log n.
double kendall_tau_b(std::span<const double> a, std::span<const double> b);

// Spearman's rho: the correlation of ranks; ties share their mean rank. NaN if a list is constant.
double spearman(std::span<const double> a, std::span<const double> b);

// Ranks from 1; ties share their mean rank.
std::vector<double> ranks_of(std::span<const double> values);

}  // namespace fovea
