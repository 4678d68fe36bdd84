#include "fovea/atlas/even_attention.h"

#include <algorithm>

#include "fovea/base/parallel.h"

namespace fovea {

MaskCounts::MaskCounts(const Mask& mask, int64_t cols, std::span<const int64_t> left_out)
    : mask_(mask), cols_(cols), left_out_(left_out.begin(), left_out.end()) {
  if (mask.key_valid.empty()) return;
  valid_before_.push_back(0);
  for (const uint8_t valid : mask.key_valid) {
    valid_before_.push_back(valid_before_.back() + (valid != 0 ? 1 : 0));
  }
}

int64_t MaskCounts::within(int64_t row, int64_t begin, int64_t end) const {
  int64_t count = allowed(row, begin, end);
  for (const int64_t column : left_out_) {
    if (column >= begin && column < end && mask_.allows(row, column)) --count;
  }
  return count;
}

int64_t MaskCounts::all(int64_t row) const {
  return allowed(row, 0, cols_);
}

int64_t MaskCounts::allowed(int64_t row, int64_t begin, int64_t end) const {
  const KeyRange seen = mask_.key_range(row, cols_);
  begin = std::max(begin, seen.begin);
  end = std::min(end, seen.end);
  if (begin >= end) return 0;
  if (!mask_.key_group.empty()) {
    int64_t count = 0;
    for (int64_t col = begin; col < end; ++col) count += mask_.allows(row, col) ? 1 : 0;
    return count;
  }
  if (valid_before_.empty()) return end - begin;
  return valid_before_[static_cast<size_t>(end)] - valid_before_[static_cast<size_t>(begin)];
}

namespace {

// The even shares of one row of groups.
class EvenRow {
 public:
  EvenRow(const Mask& mask, const MaskCounts& counts, const std::vector<PositionGroup>& cols,
          int64_t all_cols)
      : mask_(mask),
        counts_(counts),
        cols_(cols),
        all_cols_(all_cols),
        sums_(cols.size()),
        changes_(cols.size() + 1),
        rows_(cols.size() + 1) {}

  // A row sees most groups whole or not at all: of those it sees whole only the first and what
  // follows the last are noted, so that a row costs two groups and not all.
  void add(int64_t row) {
    const int64_t all = counts_.all(row);
    if (all == 0) return;
    const double share = 1 / static_cast<double>(all);
    const KeyRange seen = mask_.key_range(row, all_cols_);
    const auto first = std::ranges::lower_bound(cols_, seen.begin, {}, &PositionGroup::begin);
    const auto last = std::ranges::upper_bound(cols_, seen.end, {}, &PositionGroup::end);
    const auto at = [&](auto place) { return static_cast<size_t>(place - cols_.begin()); };
    if (!mask_.key_group.empty()) {  // any group may be seen in part
      for (size_t c = 0; c < cols_.size(); ++c) add_part(row, c, share);
      return;
    }
    if (first < last) {
      changes_[at(first)] += share;
      changes_[at(last)] -= share;
      ++rows_[at(first)];
      --rows_[at(last)];
    }
    if (first != cols_.begin()) add_part(row, at(first) - 1, share);
    const bool same = first != cols_.begin() && last == first - 1;
    if (last != cols_.end() && !same) add_part(row, at(last), share);
  }

  // `whole`: how many columns of each group a row may see that sees all of it.
  void finish(int64_t count, const std::vector<int64_t>& whole, float* out) const {
    double share = 0;
    int64_t rows = 0;
    for (size_t c = 0; c < cols_.size(); ++c) {
      share += changes_[c];
      rows += rows_[c];
      // Differences of sums are not exactly 0 where nobody sees anything.
      const double seen = rows > 0 ? share * static_cast<double>(whole[c]) : 0;
      out[c] = static_cast<float>((sums_[c] + seen) / static_cast<double>(count));
    }
  }

 private:
  void add_part(int64_t row, size_t c, double share) {
    sums_[c] += share * static_cast<double>(counts_.within(row, cols_[c].begin, cols_[c].end));
  }

  const Mask& mask_;
  const MaskCounts& counts_;
  const std::vector<PositionGroup>& cols_;
  int64_t all_cols_;
  std::vector<double> sums_, changes_;
  std::vector<int64_t> rows_;
};

}  // namespace

Tensor even_shares(const AttentionRecord& record, const std::vector<PositionGroup>& rows,
                   const std::vector<PositionGroup>& cols, std::span<const int64_t> left_out) {
  const Mask& mask = record.rule.mask;
  const int64_t all_cols = record.shape().cols;
  const MaskCounts counts(mask, all_cols, left_out);
  // Without the range each group is seen whole by every row.
  Mask open = mask;
  open.behind = open.ahead = std::nullopt;
  const MaskCounts open_counts(open, all_cols, left_out);
  std::vector<int64_t> whole;
  for (const PositionGroup& group : cols) {
    const bool alike = mask.key_group.empty() && record.shape().rows > 0;
    whole.push_back(alike ? open_counts.within(0, group.begin, group.end) : 0);
  }
  Tensor even({static_cast<int64_t>(rows.size()), static_cast<int64_t>(cols.size())});
  const MatrixView<float> out = even.mutable_matrix<float>();
  parallel_for(out.rows, [&](int64_t r) {
    const PositionGroup& group = rows[static_cast<size_t>(r)];
    EvenRow line(mask, counts, cols, all_cols);
    for (int64_t row = group.begin; row < group.end; ++row) line.add(row);
    line.finish(group.size(), whole, out.row(r));
  });
  return even;
}

}  // namespace fovea
