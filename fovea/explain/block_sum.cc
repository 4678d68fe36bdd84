#include "fovea/explain/block_sum.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/matmul.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

Tensor as_float(const Tensor& tensor) {
  return tensor.empty() ? Tensor() : convert(tensor, DType::kF32);
}

double vector_mean(std::span<const float> vector) {
  double sum = 0;
  for (const float value : vector) sum += double{value};
  return sum / static_cast<double>(vector.size());
}

// The number that a norm divides by.
double deviation(std::span<const float> vector, bool centred, double epsilon) {
  const double mean = centred ? vector_mean(vector) : 0;
  double square = 0;
  for (const float value : vector) square += (double{value} - mean) * (double{value} - mean);
  return std::sqrt(square / static_cast<double>(vector.size()) + epsilon);
}

const BlockContext& block_of(const AttentionRecord& record) {
  if (!record.block || record.values.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "{} was captured without {}; norms need both, so capture them", to_string(record.site),
         record.values.empty() ? "values" : "the block around it");
  }
  return *record.block;
}

}  // namespace

BlockSum::BlockSum(std::shared_ptr<const AttentionRecord> record, BlockExtent extent, RowRange rows)
    : record_(std::move(record)), rows_(rows), shape_(record_->shape()) {
  const BlockContext& block = block_of(*record_);
  if (rows.begin < 0 || rows.end < rows.begin || rows.end > shape_.rows) {
    fail(ErrorKind::kInvalidArgument, "rows {} to {} of {} are asked for but it has {}", rows.begin,
         rows.end, to_string(record_->site), shape_.rows);
  }
  for (int64_t head = 0; head < shape_.heads; ++head) maps_.emplace_back(record_, head);
  values_ = convert(record_->values, DType::kF32);
  weight_ = convert(block.output_weight, DType::kF32);
  bias_ = as_float(block.output_bias);
  norm_weight_ = as_float(block.norm_weight);
  norm_bias_ = as_float(block.norm_bias);
  scales_.assign(static_cast<size_t>(rows.end - rows.begin), 1.0);
  const bool norm_first = block.norm_before_residual;
  has_norm_ =
      !norm_weight_.empty() && extent >= (norm_first ? BlockExtent::kResidual : BlockExtent::kNorm);
  if (rows.begin == rows.end) return;
  attend();
  if (has_norm_ && norm_first) apply_norm();
  if (extent >= BlockExtent::kResidual) add_residual();
  if (has_norm_ && !norm_first) apply_norm();
}

bool BlockSum::residual_in_columns() const {
  const SiteKind kind = record_->site.kind;
  return kind != SiteKind::kCross && kind != SiteKind::kPool && kind != SiteKind::kPanoptic;
}

void BlockSum::check_own_columns() const {
  if (!residual_in_columns() || shape_.rows == shape_.cols) return;
  fail(ErrorKind::kInvalidArgument,
       "{} has {} rows and {} columns, so that what a row keeps of itself belongs to no column; "
       "leave the residual out",
       to_string(record_->site), shape_.rows, shape_.cols);
}

void BlockSum::attend() {
  const int64_t count = rows_.end - rows_.begin, inner = shape_.heads * shape_.value_dim;
  outputs_ = Tensor::uninitialized({count, width()});
  const int64_t step = rows_at_a_time(*this);
  Tensor mixed = Tensor::uninitialized({std::min(step, count), inner});
  for (int64_t first = rows_.begin; first < rows_.end; first += step) {
    const int64_t some = std::min(step, rows_.end - first);
    const Tensor weights = weights_of_rows(*this, first, first + some);
    const auto joined = mixed.mutable_matrix<float>().block(0, 0, some, inner);
    for (int64_t head = 0; head < shape_.heads; ++head) {
      matmul(weights.matrix<float>(head), values_.matrix<float>(shape_.kv_head(head)),
             joined.block(0, head * shape_.value_dim, some, shape_.value_dim));
    }
    matmul(joined, weight_.matrix<float>(),
           outputs_.mutable_matrix<float>().block(first - rows_.begin, 0, some, width()),
           {.transpose_b = true});
  }
  if (bias_.empty()) return;
  for (int64_t r = 0; r < count; ++r) {
    float* row = outputs_.mutable_matrix<float>().row(r);
    for (int64_t c = 0; c < width(); ++c) row[c] += bias_.values<float>()[static_cast<size_t>(c)];
  }
}

void BlockSum::add_residual() {
  const Tensor& input = record_->block->input;
  if (input.empty()) return;
  check_own_columns();
  const auto numbers = static_cast<size_t>((rows_.end - rows_.begin) * width());
  const Tensor all = convert(input, DType::kF32);
  residuals_ = Tensor::from(
      {rows_.end - rows_.begin, width()},
      all.values<float>().subspan(static_cast<size_t>(rows_.begin * width()), numbers));
  const auto outputs = outputs_.mutable_values<float>();
  for (size_t i = 0; i < numbers; ++i) outputs[i] += residuals_.values<float>()[i];
}

void BlockSum::transform(std::span<float> vector) const {
  const double mean = norm_bias_.empty() ? 0 : vector_mean(vector);
  const std::span<const float> gamma = norm_weight_.values<float>();
  for (size_t c = 0; c < vector.size(); ++c) {
    vector[c] = static_cast<float>((double{vector[c]} - mean) * double{gamma[c]});
  }
}

void BlockSum::apply_norm() {
  const bool centred = !norm_bias_.empty();
  const auto scaled = [&](std::span<float> row, double scale) {
    transform(row);
    for (float& value : row) value = static_cast<float>(double{value} * scale);
  };
  for (int64_t i = rows_.begin; i < rows_.end; ++i) {
    const auto at = static_cast<size_t>(i - rows_.begin), size = static_cast<size_t>(width());
    const auto output = outputs_.mutable_values<float>().subspan(at * size, size);
    const double scale = 1 / deviation(output, centred, double{record_->block->norm_epsilon});
    scales_[at] = scale;
    scaled(output, scale);
    for (size_t c = 0; c < size && centred; ++c) output[c] += norm_bias_.values<float>()[c];
    if (!residuals_.empty()) {
      scaled(residuals_.mutable_values<float>().subspan(at * size, size), scale);
    }
  }
}

Tensor BlockSum::head_terms(int64_t begin, int64_t end) const {
  Tensor terms = Tensor::uninitialized({shape_.heads, end - begin, width()});
  for (int64_t head = 0; head < shape_.heads; ++head) {
    const auto value = values_.matrix<float>(shape_.kv_head(head));
    matmul(value.block(begin, 0, end - begin, shape_.value_dim),
           weight_.matrix<float>().block(0, head * shape_.value_dim, width(), shape_.value_dim),
           terms.mutable_matrix<float>(head), {.transpose_b = true});
  }
  if (!has_norm_) return terms;
  const auto all = terms.mutable_values<float>();
  const auto size = static_cast<size_t>(width());
  for (size_t first = 0; first < all.size(); first += size) transform(all.subspan(first, size));
  return terms;
}

std::vector<double> BlockSum::constant(int64_t i) const {
  std::vector<double> constant(static_cast<size_t>(width()));
  if (!bias_.empty()) {
    std::vector<float> bias(bias_.values<float>().begin(), bias_.values<float>().end());
    if (has_norm_) transform(bias);
    for (size_t c = 0; c < bias.size(); ++c) constant[c] = scale(i) * double{bias[c]};
  }
  if (has_norm_ && !norm_bias_.empty()) {
    for (size_t c = 0; c < constant.size(); ++c) {
      constant[c] += double{norm_bias_.values<float>()[c]};
    }
  }
  return constant;
}

Tensor weights_of_rows(const BlockSum& sum, int64_t begin, int64_t end) {
  Tensor weights = Tensor::uninitialized({sum.heads(), end - begin, sum.cols()});
  for (const AttentionMap& map : sum.maps()) {
    map.tile({begin, end, 0, sum.cols()}, weights.mutable_matrix<float>(map.head()));
  }
  return weights;
}

int64_t rows_at_a_time(const BlockSum& sum) {
  constexpr int64_t kCells = int64_t{1} << 20;
  return std::max<int64_t>(kCells / std::max<int64_t>(sum.heads() * sum.cols(), 1), 1);
}

}  // namespace fovea
