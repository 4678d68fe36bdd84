#include "fovea/explain/faithfulness/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr double kNoCorrelation = std::numeric_limits<double>::quiet_NaN();

void check_lengths(std::span<const double> a, std::span<const double> b) {
  if (a.size() == b.size()) return;
  fail(ErrorKind::kInvalidArgument, "{} numbers are to be correlated with {}; give as many",
       a.size(), b.size());
}

int64_t pair_count(int64_t count) {
  return count * (count - 1) / 2;
}

// Pairs within runs of neighbours that are the same.
template <typename Same>
int64_t tied_pairs(size_t count, const Same& same) {
  int64_t total = 0, run = 1;
  for (size_t i = 1; i <= count; ++i) {
    if (i < count && same(i - 1, i)) {
      ++run;
    } else {
      total += pair_count(run);
      run = 1;
    }
  }
  return total;
}

// Sorts and gives how many neighbours had to change places.
int64_t sort_counting(std::span<double> values, std::span<double> spare) {
  if (values.size() < 2) return 0;
  const size_t half = values.size() / 2;
  int64_t swaps =
      sort_counting(values.first(half), spare) + sort_counting(values.subspan(half), spare);
  size_t left = 0, right = half;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool from_left = right == values.size() || (left < half && values[left] <= values[right]);
    if (!from_left) swaps += static_cast<int64_t>(half - left);
    spare[i] = values[from_left ? left++ : right++];
  }
  std::copy_n(spare.begin(), values.size(), values.begin());
  return swaps;
}

}  // namespace

// Knight 1966: in the order of `a` the pairs that stand the other way round are the swaps that
// sorting by `b` takes.
double kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  check_lengths(a, b);
  std::vector<size_t> order(a.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order,
                    [&](size_t i, size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const auto same_a = [&](size_t i, size_t j) { return a[order[i]] == a[order[j]]; };
  const auto same_both = [&](size_t i, size_t j) {
    return same_a(i, j) && b[order[i]] == b[order[j]];
  };
  const int64_t ties_a = tied_pairs(a.size(), same_a);
  const int64_t ties_both = tied_pairs(a.size(), same_both);
  std::vector<double> sorted(a.size()), spare(a.size());
  for (size_t i = 0; i < a.size(); ++i) sorted[i] = b[order[i]];
  const int64_t swaps = sort_counting(sorted, spare);
  const int64_t ties_b =
      tied_pairs(a.size(), [&](size_t i, size_t j) { return sorted[i] == sorted[j]; });
  const int64_t all = pair_count(static_cast<int64_t>(a.size()));
  if (all == ties_a || all == ties_b) return kNoCorrelation;
  const auto apart = static_cast<double>(all - ties_a - ties_b + ties_both - 2 * swaps);
  return apart / std::sqrt(static_cast<double>(all - ties_a)) /
         std::sqrt(static_cast<double>(all - ties_b));
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end + 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = mean;
    begin = end;
  }
  return ranks;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  check_lengths(a, b);
  const std::vector<double> ranks_a = ranks_of(a), ranks_b = ranks_of(b);
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double product = 0, square_a = 0, square_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    square_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    square_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  if (square_a == 0 || square_b == 0) return kNoCorrelation;
  return product / std::sqrt(square_a * square_b);
}

}  // namespace fovea
