#include "fovea/figure/sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/explain/column_mass.h"

namespace fovea {
namespace {

double share_of(std::span<const GreyColumn> columns) {
  double share = 0;
  for (const GreyColumn& each : columns) share += each.share;
  return share;
}

}  // namespace

double GreyColumns::hidden_share() const {
  return share_of(hidden);
}

double GreyColumns::apart_share() const {
  return share_of(apart);
}

std::vector<int64_t> sink_columns(const AttentionRecord& record, std::span<const double> sums) {
  const std::vector<int64_t> looks = looks_allowed(record);
  const std::vector<double> rows = rows_that_look(record);
  const double half = std::accumulate(rows.begin(), rows.end(), 0.0) / 2;
  const auto mean = [&](int64_t column) {
    const auto place = static_cast<size_t>(column);
    return sums[place] / static_cast<double>(looks[place]);
  };
  std::vector<int64_t> found;
  for (size_t j = 0; j < sums.size(); ++j) {
    if (looks[j] == 0 || static_cast<double>(looks[j]) < half) continue;
    if (mean(static_cast<int64_t>(j)) >= kSinkMean) found.push_back(static_cast<int64_t>(j));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), mean);
  found.resize(std::min(found.size(), kMostSinks));
  std::ranges::sort(found);
  return found;
}

GreyColumns grey_columns(const AttentionRecord& record, const Axis& cols,
                         std::span<const double> sums, const ViewChoice& choice, size_t most) {
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  const std::vector<int64_t> sinks = sink_columns(record, sums);
  GreyColumns found;
  for (size_t j = 0; j < sums.size(); ++j) {
    const Position& position = cols.positions[j];
    const auto column = static_cast<int64_t>(j);
    const bool sink = std::ranges::binary_search(sinks, column);
    if (!sink && !position.special) continue;
    const bool own_name = position.special || cols.grid_rows > 0;  // "[CLS]", "patch 3,7"
    const GreyColumn grey{.column = column,
                          .special = position.special,
                          .name = own_name ? position.text : fmt::format("token {}", column),
                          .text = own_name ? "" : to_one_line(position.text),
                          .share = all > 0 ? sums[j] / all : 0};
    const bool hidden = (sink && choice.hide_sinks) || (position.special && choice.hide_special);
    (hidden ? found.hidden : found.apart).push_back(grey);
  }
  std::ranges::stable_sort(found.apart, std::ranges::greater(), &GreyColumn::share);
  found.apart.resize(std::min(found.apart.size(), most));
  std::ranges::sort(found.apart, {}, &GreyColumn::column);
  return found;
}

std::vector<int64_t> columns_of(std::span<const GreyColumn> columns) {
  std::vector<int64_t> places;
  for (const GreyColumn& each : columns) places.push_back(each.column);
  return places;
}

std::string percent_text(double share) {
  const double percent = share * 100;
  return percent > 0 && percent < 0.95 ? "less than 1 %" : fmt::format("{:.0f} %", percent);
}

std::string grey_text(std::span<const GreyColumn> columns) {
  constexpr size_t kMostNamed = 6;
  std::string text;
  for (size_t i = 0; i < std::min(columns.size(), kMostNamed); ++i) {
    const GreyColumn& each = columns[i];
    const std::string quoted = each.text.empty() ? "" : fmt::format(" “{}”", each.text);
    text += fmt::format("{}{}{} with {}{}", i == 0 ? "" : ", ", each.name, quoted,
                        percent_text(each.share), i == 0 ? " of all weight" : "");
  }
  if (columns.size() > kMostNamed) {
    text += fmt::format(" and {} more, {} together", columns.size() - kMostNamed,
                        percent_text(share_of(columns)));
  }
  return text;
}

}  // namespace fovea
