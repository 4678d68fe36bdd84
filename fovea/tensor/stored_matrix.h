// A matrix of weights as its file holds it (docs/adr/0020): nothing is computed until somebody
// multiplies with it or asks for rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fovea/tensor/stored_format.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Copies share the numbers.
class StoredMatrix {
 public:
  StoredMatrix() = default;  // [0, 0]
  // A matrix of F32, F16 or BF16 numbers. Throws Error{kInvalidArgument} for another rank or type.
  StoredMatrix(Tensor numbers);  // NOLINT(google-explicit-constructor)
  // [rows, cols], row by row in whole blocks; `blocks` is U8 and as long as they are.
  StoredMatrix(StoredFormat format, int64_t rows, int64_t cols, Tensor blocks);

  int64_t rows() const { return transposed_ ? stored_cols_ : stored_rows_; }
  int64_t cols() const { return transposed_ ? stored_rows_ : stored_cols_; }
  Shape shape() const { return {rows(), cols()}; }
  int64_t size(int axis) const { return axis == 0 ? rows() : cols(); }
  bool empty() const { return stored_rows_ == 0 || stored_cols_ == 0; }

  StoredFormat format() const { return format_; }
  size_t bytes() const { return numbers_.bytes(); }
  const Tensor& numbers() const { return numbers_; }  // plain ones, or the bytes of the blocks
  // The same numbers in another place.
  StoredMatrix held_in(Tensor numbers) const;

  // [cols, rows] of the same numbers, which stay where they are.
  StoredMatrix transposed() const;
  bool is_transposed() const { return transposed_; }
  // The same numbers, stored as llama.cpp stores them: within each head, rows of its two halves
  // take turns. Rows are then counted half by half. 0 heads: they are stored in order.
  StoredMatrix with_halves_mixed(int64_t heads) const;

  // Rows [begin, end), which stay where they are. Only of a matrix that is not transposed and has
  // its rows in order.
  StoredMatrix rows_between(int64_t begin, int64_t end) const;

  // Where row r lies. Only of a matrix that is not transposed.
  const std::byte* row(int64_t r) const { return numbers_.raw() + stored_row(r) * row_bytes_; }
  int64_t row_bytes() const { return row_bytes_; }

 private:
  int64_t stored_row(int64_t r) const {
    FOVEA_ASSERT(!transposed_ && r >= 0 && r < stored_rows_);
    if (half_rows_ == 0) return r;
    const int64_t head = r / (2 * half_rows_), within = r % (2 * half_rows_);
    return head * 2 * half_rows_ + within % half_rows_ * 2 + within / half_rows_;
  }

  StoredFormat format_ = StoredFormat::kF32;
  int64_t stored_rows_ = 0, stored_cols_ = 0;
  int64_t row_bytes_ = 0;
  int64_t half_rows_ = 0;  // of a head; 0: rows are in order
  bool transposed_ = false;
  Tensor numbers_;
};

}  // namespace fovea
