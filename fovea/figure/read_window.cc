#include "fovea/figure/read_window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t kMostNamedOutside = 3, kRanksNamed = 8;
constexpr int64_t kForbiddenShown = 16;  // so that one sees that the text goes on

}  // namespace

PositionGroup read_window(int64_t index, std::span<const float> weights) {
  const int64_t count = std::ssize(weights);
  if (count <= kLongestRead) return {0, count};
  const auto allowed = [](float weight) { return !std::isnan(weight); };
  const int64_t first = std::ranges::find_if(weights, allowed) - weights.begin();
  const int64_t behind =
      std::find_if(weights.rbegin(), weights.rend(), allowed).base() - weights.begin();
  int64_t begin = index - kReadWindow / 2;
  begin = std::min(begin, behind + kForbiddenShown - kReadWindow);
  begin = std::max(begin, std::min(first - kForbiddenShown, index));
  begin = std::clamp<int64_t>(begin, 0, count - kReadWindow);
  return {begin, begin + kReadWindow};
}

std::string outside_note(const Axis& axis, std::span<const float> weights, PositionGroup shown) {
  double all = 0, outside = 0;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < std::ssize(weights); ++i) {
    const float weight = weights[static_cast<size_t>(i)];
    if (std::isnan(weight)) continue;
    all += double{weight};
    if (i < shown.begin || i >= shown.end) outside += double{weight};
    order.push_back(i);
  }
  if (shown.size() == std::ssize(weights) || all <= 0) return "";
  const auto weight_of = [&](int64_t i) { return weights[static_cast<size_t>(i)]; };
  std::ranges::stable_sort(order, std::ranges::greater(), weight_of);
  order.resize(std::min(order.size(), kRanksNamed));
  const std::vector<std::string> labels = numbered_labels(axis);
  std::vector<std::string> named;
  for (const int64_t i : order) {
    const bool inside = i >= shown.begin && i < shown.end;
    if (inside || weight_of(i) <= 0 || named.size() == kMostNamedOutside) continue;
    named.push_back(fmt::format("{} \"{}\" {:.2g}", i, to_one_line(labels[static_cast<size_t>(i)]),
                                weight_of(i)));
  }
  return fmt::format(" · outside of what is shown: {:.0f} % of the weight{}{}", 100 * outside / all,
                     named.empty() ? "" : ", most on ", fmt::join(named, ", "));
}

}  // namespace fovea
