// How far two lists of numbers put things into the same order.
#pragma once

#include <span>
#include <vector>

namespace fovea {

// Kendall's tau-b: of the pairs that neither list ties, how many more stand in the same order than
// in the other one, -1 to 1, with ties corrected for. NaN where one list is constant. n log n.
double kendall_tau_b(std::span<const double> a, std::span<const double> b);

// Spearman's rho: the correlation of ranks, ties sharing their mean rank. NaN where one list is
// constant.
double spearman(std::span<const double> a, std::span<const double> b);

// From 1, ties sharing the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values);

}  // namespace fovea
