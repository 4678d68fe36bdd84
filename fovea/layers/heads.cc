#include "fovea/layers/heads.h"

#include "fovea/base/error.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/slice.h"

namespace fovea {

WordScores::WordScores(const StoredMatrix& weight, const Tensor& bias, DType compute)
    : linear_(PackedMatrix::as_stored(weight, compute), bias) {}

Value WordScores::operator()(const Value& x) const {
  const Value scores = scale_ == 1 ? linear_(x) : ops::scale(linear_(x), scale_);
  if (soft_cap_ == 0) return scores;
  return ops::scale(ops::activation(ops::scale(scores, 1 / soft_cap_), Activation::kTanh),
                    soft_cap_);
}

Value rows_for_logits(const Value& x, LogitRows rows) {
  const int64_t count = x.shape()[0], row = static_cast<int64_t>(rows);
  if (rows == LogitRows::kLast) return row_of(x, count - 1);
  if (row < 0) return x;
  if (row >= count) {
    fail(ErrorKind::kInvalidArgument, "position {} is asked about but the output has 0 to {}", row,
         count - 1);
  }
  return row_of(x, row);
}

Value row_of(const Value& x, int64_t index) {
  return ops::slice(x, 0, index, index + 1);
}

Value as_vector(const Value& x) {
  return ops::reshape(x, {x.shape().elements()});
}

}  // namespace fovea
