#include "fovea/explain/column_mass.h"

#include <algorithm>
#include <limits>
#include <map>

namespace fovea {
namespace {

// A row is padding if, as a key of the same attention, nobody may see it.
bool is_padding(const AttentionRecord& record, size_t row) {
  const std::vector<uint8_t>& valid = record.rule.mask.key_valid;
  return record.row_axis == record.col_axis && row < valid.size() && valid[row] == 0;
}

}  // namespace

std::vector<double> rows_that_look(const AttentionRecord& record, int64_t window) {
  const int64_t rows = record.shape().rows;
  std::vector<double> looks(static_cast<size_t>(rows), 0.0);
  for (int64_t i = window > 0 ? std::max<int64_t>(rows - window, 0) : 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i);
    looks[row] = is_padding(record, row) ? 0 : 1;
  }
  return looks;
}

std::vector<int64_t> looks_allowed(const AttentionRecord& record, int64_t window) {
  const Mask& mask = record.rule.mask;
  const std::vector<double> looks = rows_that_look(record, window);
  const auto group_of = [](const std::vector<int32_t>& groups, size_t index) {
    return groups.empty() ? 0 : groups[index];
  };
  std::map<int32_t, std::vector<int64_t>> rows_of_group;  // in their order
  for (size_t i = 0; i < looks.size(); ++i) {
    if (looks[i] == 0) continue;
    rows_of_group[group_of(mask.query_group, i)].push_back(static_cast<int64_t>(i));
  }
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  const int64_t behind = std::min(mask.behind.value_or(kFar), kFar);
  const int64_t ahead = std::min(mask.ahead.value_or(kFar), kFar);
  std::vector<int64_t> counts(static_cast<size_t>(record.shape().cols), 0);
  for (size_t j = 0; j < counts.size(); ++j) {
    if (!mask.key_valid.empty() && mask.key_valid[j] == 0) continue;
    const std::vector<int64_t>& rows = rows_of_group[group_of(mask.key_group, j)];
    // The rows whose window holds j: -ahead <= i + offset - j <= behind.
    const int64_t place = static_cast<int64_t>(j) - mask.query_offset;
    counts[j] = std::ranges::upper_bound(rows, place + behind) -
                std::ranges::lower_bound(rows, place - ahead);
  }
  return counts;
}

std::vector<double> column_mass(const std::shared_ptr<const AttentionRecord>& record,
                                std::optional<int64_t> head, ColumnTotal total, int64_t window) {
  const AttentionShape shape = record->shape();
  const std::vector<double> looks = rows_that_look(*record, window);
  std::vector<double> mass(static_cast<size_t>(shape.cols), 0.0);
  const int64_t first = head.value_or(0);
  const int64_t count = head ? 1 : shape.heads;
  for (int64_t h = first; h < first + count; ++h) {
    const std::vector<double> part = AttentionMap(record, h).times_left(looks);
    for (size_t j = 0; j < mass.size(); ++j) mass[j] += part[j] / static_cast<double>(count);
  }
  if (total == ColumnTotal::kSum) return mass;
  const std::vector<int64_t> allowed = looks_allowed(*record, window);
  for (size_t j = 0; j < mass.size(); ++j) {
    mass[j] = allowed[j] > 0 ? mass[j] / static_cast<double>(allowed[j]) : 0;
  }
  return mass;
}

}  // namespace fovea
