#include "fovea/explain/pictures/score_split.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/similarity.h"
#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

void check_split(const AttentionRecord& record, const Tensor& position_queries,
                 const Tensor& position_keys, int64_t head, int64_t row, int64_t col) {
  const AttentionShape shape = record.shape();
  if (head < 0 || head >= shape.heads || row < 0 || row >= shape.rows || col < 0 ||
      col >= shape.cols) {
    fail(ErrorKind::kInvalidArgument,
         "head {}, row {}, column {} is not in {}, which has {} heads, {} rows and {} columns",
         head, row, col, to_string(record.site), shape.heads, shape.rows, shape.cols);
  }
  if (position_queries.shape() != record.queries.shape() ||
      position_keys.shape() != record.keys.shape()) {
    fail(ErrorKind::kInvalidArgument,
         "{}: positions have the shapes {} and {} but Q and K {} and {}", to_string(record.site),
         to_string(position_queries.shape()), to_string(position_keys.shape()),
         to_string(record.queries.shape()), to_string(record.keys.shape()));
  }
  if (!std::holds_alternative<std::monostate>(record.rule.bias) || record.rule.soft_cap > 0) {
    fail(ErrorKind::kUnsupported,
         "{}: the score has a bias or a cap, so content and positions do not make it up",
         to_string(record.site));
  }
}

// Vector `index` of part `part` of [parts, vectors, head_dim].
std::vector<double> vector_of(const Tensor& tensor, int64_t part, int64_t index) {
  const int64_t length = tensor.size(2);
  const Tensor values = convert(tensor, DType::kF32);
  const float* first = values.values<float>().data() + (part * tensor.size(1) + index) * length;
  return {first, first + length};
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

double lse_of(const AttentionRecord& record, int64_t head, int64_t row) {
  const auto index = static_cast<size_t>(head * record.lse.size(1) + row);
  return record.lse.dtype() == DType::kF64 ? record.lse.values<double>()[index]
                                           : double{record.lse.values<float>()[index]};
}

}  // namespace

ScoreSplit split_score(const AttentionRecord& record, const Tensor& position_queries,
                       const Tensor& position_keys, int64_t head, int64_t row, int64_t col) {
  check_split(record, position_queries, position_keys, head, row, col);
  const int64_t kv_head = record.shape().kv_head(head);
  const double scale = record.rule.scale;
  const std::vector<double> query = vector_of(record.queries, head, row);
  const std::vector<double> key = vector_of(record.keys, kv_head, col);
  const std::vector<double> query_position = vector_of(position_queries, head, row);
  const std::vector<double> key_position = vector_of(position_keys, kv_head, col);
  const std::vector<double> query_content = difference(query, query_position);
  const std::vector<double> key_content = difference(key, key_position);
  ScoreSplit split{.head = head,
                   .content_content = scale * dot(query_content, key_content),
                   .content_position = scale * dot(query_content, key_position),
                   .position_content = scale * dot(query_position, key_content),
                   .position_position = scale * dot(query_position, key_position)};
  split.score = split.content_content + split.content_position + split.position_content +
                split.position_position;
  if (record.rule.mask.allows(row, col)) {
    split.weight = std::exp(scale * dot(query, key) - lse_of(record, head, row));
  }
  for (size_t d = 0; d < query.size(); ++d) {
    split.dimensions.push_back(
        {static_cast<int64_t>(d), query[d], key[d], scale * query[d] * key[d]});
  }
  std::ranges::stable_sort(split.dimensions, std::ranges::greater{},
                           [](const DimensionProduct& each) { return std::abs(each.product); });
  return split;
}

}  // namespace fovea
