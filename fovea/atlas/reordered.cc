#include "fovea/atlas/reordered.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Entries of the second axis of [heads, positions, ...] in another order.
Tensor gathered(const Tensor& tensor, std::span<const int64_t> order) {
  if (tensor.empty()) return tensor;
  Tensor result = Tensor::uninitialized(tensor.shape(), tensor.dtype());
  const auto heads = static_cast<size_t>(tensor.size(0));
  const size_t entry = tensor.bytes() / heads / order.size();
  std::byte* out = result.mutable_raw();
  for (size_t head = 0; head < heads; ++head) {
    const std::byte* from = tensor.raw() + head * order.size() * entry;
    for (const int64_t place : order) {
      std::memcpy(out, from + static_cast<size_t>(place) * entry, entry);
      out += entry;
    }
  }
  return result;
}

template <typename T>
std::vector<T> gathered(const std::vector<T>& values, std::span<const int64_t> order) {
  if (values.empty()) return values;
  std::vector<T> result;
  for (const int64_t place : order) result.push_back(values[static_cast<size_t>(place)]);
  return result;
}

// Without an index the position itself counts.
std::vector<int32_t> gathered_index(const std::vector<int32_t>& index,
                                    std::span<const int64_t> order) {
  if (!index.empty()) return gathered(index, order);
  return {order.begin(), order.end()};
}

std::vector<int64_t> inverse(std::span<const int64_t> order) {
  std::vector<int64_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return places;
}

}  // namespace

bool can_be_reordered(const AttentionRecord& record) {
  const ScoreRule& rule = record.rule;
  const bool by_place = std::holds_alternative<std::monostate>(rule.bias) ||
                        std::holds_alternative<DenseBias>(rule.bias);
  return record.has_queries() && by_place && !rule.mask.behind && !rule.mask.ahead;
}

std::shared_ptr<const AttentionRecord> reordered(const AttentionRecord& record,
                                                 std::span<const int64_t> rows,
                                                 std::span<const int64_t> cols) {
  if (!can_be_reordered(record)) {
    fail(ErrorKind::kUnsupported,
         "{} counts how far positions are apart, or holds its weights as they are; its rows and "
         "columns keep their order",
         to_string(record.site));
  }
  auto copy = std::make_shared<AttentionRecord>();
  copy->site = record.site;
  copy->row_axis = record.row_axis;
  copy->col_axis = record.col_axis;
  copy->queries = gathered(record.queries, rows);
  copy->keys = gathered(record.keys, cols);
  copy->values = gathered(record.values, cols);
  copy->lse = gathered(record.lse, rows);
  copy->rule = record.rule;
  Mask& mask = copy->rule.mask;
  mask.key_valid = gathered(mask.key_valid, cols);
  mask.query_group = gathered(mask.query_group, rows);
  mask.key_group = gathered(mask.key_group, cols);
  if (auto* bias = std::get_if<DenseBias>(&copy->rule.bias)) {
    bias->row_index = gathered_index(bias->row_index, rows);
    bias->col_index = gathered_index(bias->col_index, cols);
  }
  const std::vector<int64_t> row_places = inverse(rows), col_places = inverse(cols);
  for (CutEdge& cut : copy->rule.cuts) {
    cut.row = row_places[static_cast<size_t>(cut.row)];
    cut.col = col_places[static_cast<size_t>(cut.col)];
  }
  std::ranges::sort(copy->rule.cuts);
  return copy;
}

}  // namespace fovea
