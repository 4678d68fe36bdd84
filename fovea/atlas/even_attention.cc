#include "fovea/atlas/even_attention.h"

#include <algorithm>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// Whether all rows may see the same columns.
bool rows_see_the_same(const Mask& mask) {
  return !mask.behind && !mask.ahead && mask.key_group.empty();
}

}  // namespace

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

Tensor even_shares(const AttentionRecord& record, const std::vector<PositionGroup>& rows,
                   const std::vector<PositionGroup>& cols, std::span<const int64_t> left_out) {
  const MaskCounts counts(record.rule.mask, record.shape().cols, left_out);
  Tensor even({static_cast<int64_t>(rows.size()), static_cast<int64_t>(cols.size())});
  const MatrixView<float> out = even.mutable_matrix<float>();
  const bool alike = rows_see_the_same(record.rule.mask);
  parallel_for(alike ? std::min<int64_t>(out.rows, 1) : out.rows, [&](int64_t r) {
    PositionGroup group = rows[static_cast<size_t>(r)];
    if (alike) group.end = group.begin + 1;
    std::vector<double> sums(cols.size());
    for (int64_t row = group.begin; row < group.end; ++row) {
      const int64_t all = counts.all(row);
      if (all == 0) continue;
      for (size_t c = 0; c < cols.size(); ++c) {
        const int64_t some = counts.within(row, cols[c].begin, cols[c].end);
        sums[c] += static_cast<double>(some) / static_cast<double>(all);
      }
    }
    for (size_t c = 0; c < cols.size(); ++c) {
      out.row(r)[c] = static_cast<float>(sums[c] / static_cast<double>(group.size()));
    }
  });
  for (int64_t r = 1; alike && r < out.rows; ++r) std::copy_n(out.row(0), out.cols, out.row(r));
  return even;
}

}  // namespace fovea
