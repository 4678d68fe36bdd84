#include "fovea/atlas/head_strips.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

std::vector<float> value_lengths(const AttentionRecord& record, int64_t head) {
  if (record.values.empty()) {
    fail(ErrorKind::kUnsupported, Field{"of"},
         "{} {} without values, so a weight cannot be told with theirs", to_string(record.site),
         record.has_queries() ? "was captured" : "is an array of weights");
  }
  const Tensor all = convert(record.values, DType::kF32);
  const int64_t cols = all.size(1), dim = all.size(2);
  const float* values = all.values<float>().data() + record.shape().kv_head(head) * cols * dim;
  std::vector<float> lengths;
  for (int64_t col = 0; col < cols; ++col, values += dim) {
    const double square = std::inner_product(values, values + dim, values, 0.0);
    lengths.push_back(static_cast<float>(std::sqrt(square)));
  }
  return lengths;
}

}  // namespace

HeadValues::HeadValues(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                       MapValue value)
    : map_(record, head), value_(value) {
  if (value == MapValue::kValueWeighted) lengths_ = value_lengths(*record, head);
}

Tensor HeadValues::strip(Region region) const {
  if (value_ == MapValue::kScore) return map_.score_tile(region);
  Tensor weights = map_.tile(region);
  if (lengths_.empty()) return weights;
  const MatrixView<float> view = weights.mutable_matrix<float>();
  for (int64_t r = 0; r < view.rows; ++r) {
    float* row = view.row(r);
    const float* lengths = lengths_.data() + region.col_begin;
    for (int64_t c = 0; c < view.cols; ++c) row[c] *= lengths[c];
  }
  return weights;
}

HeadStrips::HeadStrips(const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
                       MapValue value)
    : head_(std::move(head)) {
  const int64_t heads = record->shape().heads;
  const bool one = head_.kind == HeadChoice::Kind::kOne;
  for (int64_t h = one ? head_.head : 0; h < (one ? head_.head + 1 : heads); ++h) {
    maps_.emplace_back(record, h, value);
  }
}

Tensor HeadStrips::strip(Region region) const {
  Tensor result = maps_.front().strip(region);
  if (maps_.size() == 1) return result;
  const auto values = result.mutable_values<float>();
  const bool max = head_.kind == HeadChoice::Kind::kMax;
  const bool min = head_.kind == HeadChoice::Kind::kMin;
  for (size_t h = 1; h < maps_.size(); ++h) {
    const Tensor other = maps_[h].strip(region);
    const auto more = other.values<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = max   ? std::max(values[i], more[i])
                  : min ? std::min(values[i], more[i])
                        : values[i] + more[i];
    }
  }
  if (!max && !min) {
    for (float& value : values) value /= static_cast<float>(maps_.size());
  }
  return result;
}

}  // namespace fovea
