#include "fovea/ops/check.h"

namespace fovea::ops {

void require_f32(const char* op, const Value& value) {
  if (value.tensor.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument, "{}: an input of shape {} is {}; it must be F32", op,
         to_string(value.shape()), dtype_name(value.tensor.dtype()));
  }
}

void require_rank(const char* op, const Value& value, int rank) {
  require_f32(op, value);
  if (value.shape().rank() != rank) {
    fail(ErrorKind::kInvalidArgument, "{}: an input has shape {} but must have {} axes", op,
         to_string(value.shape()), rank);
  }
}

void require_vector(const char* op, const Value& vector, int64_t size) {
  if (vector.tensor.empty()) return;
  require_f32(op, vector);
  if (!(vector.shape() == Shape{size})) {
    fail(ErrorKind::kInvalidArgument, "{}: a weight or bias has shape {} but must be [{}]", op,
         to_string(vector.shape()), size);
  }
}

int checked_axis(const char* op, const Value& value, int axis) {
  const int rank = value.shape().rank();
  if (axis < -rank || axis >= rank) {
    fail(ErrorKind::kInvalidArgument, "{}: axis {} of an input of shape {}, which has {} axes", op,
         axis, to_string(value.shape()), rank);
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace fovea::ops
