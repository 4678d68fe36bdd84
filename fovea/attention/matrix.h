// Small matrices of double, for the mathematics that people read. Values, not views: a copy is a
// copy.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

class Matrix {
 public:
  Matrix() = default;  // 0 x 0
  // Throws Error{kInvalidArgument} on a negative size.
  Matrix(int64_t rows, int64_t cols, double value = 0);
  Matrix(std::initializer_list<std::initializer_list<double>> rows);
  // Throws Error{kInvalidArgument} unless every row has the same length.
  static Matrix from_rows(const std::vector<std::vector<double>>& rows);
  static Matrix identity(int64_t size);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool empty() const { return values_.empty(); }

  double operator()(int64_t r, int64_t c) const { return values_[offset(r, c)]; }
  double& operator()(int64_t r, int64_t c) { return values_[offset(r, c)]; }
  std::span<const double> row(int64_t r) const {
    FOVEA_ASSERT(r >= 0 && r < rows_);
    return {values_.data() + r * cols_, static_cast<size_t>(cols_)};
  }
  std::span<double> row(int64_t r) {
    FOVEA_ASSERT(r >= 0 && r < rows_);
    return {values_.data() + r * cols_, static_cast<size_t>(cols_)};
  }
  std::vector<double> column(int64_t c) const;
  std::span<const double> values() const { return values_; }

  bool operator==(const Matrix& other) const = default;

 private:
  size_t offset(int64_t r, int64_t c) const {
    FOVEA_ASSERT(r >= 0 && r < rows_ && c >= 0 && c < cols_);
    return static_cast<size_t>(r * cols_ + c);
  }
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  std::vector<double> values_;
};

std::string to_string(const Matrix& matrix);  // "[4 x 3]", its shape

// a b. Throws Error{kInvalidArgument} unless a has as many columns as b has rows.
Matrix multiply(const Matrix& a, const Matrix& b);
Matrix transpose(const Matrix& matrix);
// Columns [begin, begin + count). Throws Error{kInvalidArgument} if they are not all there.
Matrix slice_columns(const Matrix& matrix, int64_t begin, int64_t count);
// The parts side by side. Throws Error{kInvalidArgument} unless all have as many rows.
Matrix join_columns(std::span<const Matrix> parts);
// The largest |a - b|; infinity if a NaN is among them. Throws Error{kInvalidArgument} unless the
// shapes are the same.
double max_difference(const Matrix& a, const Matrix& b);

}  // namespace fovea
