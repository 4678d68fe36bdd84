#include "fovea/atlas/top_weights.h"

#include <algorithm>
#include <cmath>

#include "fovea/atlas/even_attention.h"
#include "fovea/atlas/merged_map.h"

namespace fovea {
namespace {

constexpr int64_t kTopStripCells = int64_t{1} << 20;

// The largest of so many cells.
std::vector<TopWeight> top_cells(const float* weights, const float* even, int64_t size,
                                 int64_t count) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i) {
    if (!std::isnan(weights[i])) order.push_back(i);
  }
  const auto most = order.begin() + std::min(count, std::ssize(order));
  std::partial_sort(order.begin(), most, order.end(), [&](int64_t a, int64_t b) {
    const float first = weights[a], second = weights[b];
    return first != second ? first > second : a < b;
  });
  std::vector<TopWeight> top;
  for (auto i = order.begin(); i != most; ++i) {
    const double weight = double{weights[*i]};
    top.push_back({*i, weight, weight / double{even[*i]}});
  }
  return top;
}

}  // namespace

std::vector<std::vector<TopWeight>> top_of_rows(
    const std::shared_ptr<const AttentionRecord>& record, const HeadChoice& head,
    const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols, int64_t count) {
  const int64_t width = std::max<int64_t>(1, std::ssize(cols));
  const int64_t at_once = std::max<int64_t>(1, kTopStripCells / width);
  std::vector<std::vector<TopWeight>> all;
  for (int64_t first = 0; first < std::ssize(rows); first += at_once) {
    const int64_t last = std::min(first + at_once, std::ssize(rows));
    const std::vector<PositionGroup> some(rows.begin() + first, rows.begin() + last);
    const MergedMap map = merged_map(record, head, some, cols, Merge::kWords);
    const Tensor even = even_shares(*record, some, cols);
    for (int64_t r = 0; r < last - first; ++r) {
      all.push_back(top_cells(map.weights.matrix<float>().row(r), even.matrix<float>().row(r),
                              std::ssize(cols), count));
    }
  }
  return all;
}

std::vector<TopWeight> top_of_column(const std::shared_ptr<const AttentionRecord>& record,
                                     const HeadChoice& head, const std::vector<PositionGroup>& rows,
                                     PositionGroup col, int64_t count) {
  const MergedMap map = merged_map(record, head, rows, {col}, Merge::kWords);
  const Tensor even = even_shares(*record, rows, {col});
  return top_cells(map.weights.values<float>().data(), even.values<float>().data(),
                   std::ssize(rows), count);
}

}  // namespace fovea
