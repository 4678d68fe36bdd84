// A borrowed [heads, rows, dim] array of any floating-point type and any layout whose last axis is
// contiguous: [heads, rows, dim] as records store it, or [rows, heads * dim] as projections give
// it.
#pragma once

#include <cstdint>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct HeadsView {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;  // F32, F16 or BF16; F64 only where it is read, not multiplied
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t dim = 0;
  int64_t head_stride = 0;  // in elements
  int64_t row_stride = 0;

  // A tensor [heads, rows, dim]. Throws Error{kInvalidArgument} on another rank or type.
  static HeadsView of(const Tensor& tensor);

  // Copies `count` rows of `head` to f32, times `factor`, one after the other.
  void read_rows(int64_t head, int64_t row, int64_t count, float factor, float* out) const;
  void read_row(int64_t head, int64_t row, float factor, float* out) const {
    read_rows(head, row, 1, factor, out);
  }
};

// The same for f32 results.
struct MutableHeadsView {
  float* data = nullptr;
  int64_t head_stride = 0;
  int64_t row_stride = 0;

  // A tensor [heads, rows, dim] of f32.
  static MutableHeadsView of(Tensor& tensor);
  float* row(int64_t head, int64_t index) const {
    return data + head * head_stride + index * row_stride;
  }
};

}  // namespace fovea
