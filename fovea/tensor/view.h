// Borrowed, typed windows onto memory that someone else owns. What kernels work on.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "fovea/base/error.h"

namespace fovea {

// rows x cols; consecutive rows are `stride` elements apart.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  MatrixView() = default;
  MatrixView(T* first, int64_t row_count, int64_t col_count)
      : MatrixView(first, row_count, col_count, col_count) {}
  MatrixView(T* first, int64_t row_count, int64_t col_count, int64_t row_stride)
      : data(first), rows(row_count), cols(col_count), stride(row_stride) {}
  // A view of mutable elements is also one of const elements.
  operator MatrixView<const T>() const  // NOLINT(google-explicit-constructor)
    requires(!std::is_const_v<T>)
  {
    return {data, rows, cols, stride};
  }

  T* row(int64_t r) const {
    FOVEA_ASSERT(r >= 0 && r < rows);
    return data + r * stride;
  }
  T& operator()(int64_t r, int64_t c) const {
    FOVEA_ASSERT(c >= 0 && c < cols);
    return row(r)[c];
  }
  MatrixView block(int64_t r, int64_t c, int64_t row_count, int64_t col_count) const {
    FOVEA_ASSERT(r >= 0 && c >= 0 && r + row_count <= rows && c + col_count <= cols);
    return {data + r * stride + c, row_count, col_count, stride};
  }
};

}  // namespace fovea
