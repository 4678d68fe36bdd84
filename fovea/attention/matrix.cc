#include "fovea/attention/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {

Matrix::Matrix(int64_t rows, int64_t cols, double value) : rows_(rows), cols_(cols) {
  if (rows < 0 || cols < 0) {
    fail(ErrorKind::kInvalidArgument, "a matrix of {} x {} cannot be; use sizes of 0 or more", rows,
         cols);
  }
  values_.assign(static_cast<size_t>(rows) * static_cast<size_t>(cols), value);
}

Matrix::Matrix(std::initializer_list<std::initializer_list<double>> rows)
    : Matrix(from_rows({rows.begin(), rows.end()})) {}

Matrix Matrix::from_rows(const std::vector<std::vector<double>>& rows) {
  Matrix matrix(static_cast<int64_t>(rows.size()),
                rows.empty() ? 0 : static_cast<int64_t>(rows.front().size()));
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].size() != rows.front().size()) {
      fail(ErrorKind::kInvalidArgument,
           "row {} has {} numbers but row 0 has {}; give every row the same length", r,
           rows[r].size(), rows.front().size());
    }
    std::ranges::copy(rows[r], matrix.row(static_cast<int64_t>(r)).begin());
  }
  return matrix;
}

Matrix Matrix::identity(int64_t size) {
  Matrix matrix(size, size);
  for (int64_t i = 0; i < size; ++i) matrix(i, i) = 1;
  return matrix;
}

std::vector<double> Matrix::column(int64_t c) const {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(rows_));
  for (int64_t r = 0; r < rows_; ++r) values.push_back((*this)(r, c));
  return values;
}

std::string to_string(const Matrix& matrix) {
  return fmt::format("[{} x {}]", matrix.rows(), matrix.cols());
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  if (a.cols() != b.rows()) {
    fail(ErrorKind::kInvalidArgument,
         "{} cannot be multiplied with {}: {} columns meet {} rows; they must be as many",
         to_string(a), to_string(b), a.cols(), b.rows());
  }
  Matrix product(a.rows(), b.cols());
  for (int64_t r = 0; r < a.rows(); ++r) {
    for (int64_t inner = 0; inner < a.cols(); ++inner) {
      const double factor = a(r, inner);
      for (int64_t c = 0; c < b.cols(); ++c) product(r, c) += factor * b(inner, c);
    }
  }
  return product;
}

Matrix transpose(const Matrix& matrix) {
  Matrix result(matrix.cols(), matrix.rows());
  for (int64_t r = 0; r < matrix.rows(); ++r) {
    for (int64_t c = 0; c < matrix.cols(); ++c) result(c, r) = matrix(r, c);
  }
  return result;
}

Matrix slice_columns(const Matrix& matrix, int64_t begin, int64_t count) {
  if (begin < 0 || count < 0 || begin > matrix.cols() || count > matrix.cols() - begin) {
    fail(ErrorKind::kInvalidArgument, "{} columns from column {} on are not all in {}", count,
         begin, to_string(matrix));
  }
  Matrix result(matrix.rows(), count);
  for (int64_t r = 0; r < matrix.rows(); ++r) {
    std::ranges::copy(matrix.row(r).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
                      result.row(r).begin());
  }
  return result;
}

Matrix join_columns(std::span<const Matrix> parts) {
  int64_t cols = 0;
  for (const Matrix& part : parts) {
    if (part.rows() != parts.front().rows()) {
      fail(ErrorKind::kInvalidArgument,
           "{} and {} cannot stand side by side; they must have as many rows",
           to_string(parts.front()), to_string(part));
    }
    cols += part.cols();
  }
  Matrix result(parts.empty() ? 0 : parts.front().rows(), cols);
  for (int64_t r = 0; r < result.rows(); ++r) {
    auto out = result.row(r).begin();
    for (const Matrix& part : parts) out = std::ranges::copy(part.row(r), out).out;
  }
  return result;
}

double max_difference(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    fail(ErrorKind::kInvalidArgument, "{} and {} cannot be compared; they must have one shape",
         to_string(a), to_string(b));
  }
  double largest = 0;
  for (size_t i = 0; i < a.values().size(); ++i) {
    if (a.values()[i] == b.values()[i]) continue;  // equal infinities are no difference
    const double difference = std::abs(a.values()[i] - b.values()[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace fovea
