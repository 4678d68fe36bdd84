// A tensor owns its elements, contiguous and row-major. Copies share the elements, which nobody
// changes once they are shared; clone() makes new ones. No arithmetic lives here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/dtype.h"
#include "fovea/tensor/shape.h"
#include "fovea/tensor/view.h"

namespace fovea {

class Tensor {
 public:
  Tensor() : shape_{0} {}  // an empty f32 vector; allocates nothing
  // New elements, aligned to 64 bytes and zero. Throws Error{kInvalidArgument} when memory is
  // short.
  explicit Tensor(Shape shape, DType dtype = DType::kF32);
  // As above, without setting the elements; for results that are about to be written whole.
  static Tensor uninitialized(Shape shape, DType dtype = DType::kF32);
  // Elements that live elsewhere, a mapped file say; `keep_alive` holds on to them.
  static Tensor borrow(Shape shape, DType dtype, const std::byte* data,
                       std::shared_ptr<const void> keep_alive);
  template <typename T>
  static Tensor from(const Shape& shape, std::span<const T> values);
  template <typename T>
  static Tensor from(const Shape& shape, const std::vector<T>& values) {
    return from(shape, std::span<const T>(values));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t size(int axis) const { return shape_[axis]; }
  int64_t elements() const { return shape_.elements(); }
  bool empty() const { return elements() == 0; }
  size_t bytes() const { return static_cast<size_t>(elements()) * dtype_bytes(dtype_); }
  const std::byte* raw() const { return data_; }

  // The elements; T must be the tensor's type.
  template <typename T>
  std::span<const T> values() const {
    check_type(kDTypeOf<T>);
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(elements())};
  }
  // For the one who made the tensor and has not shared it yet.
  template <typename T>
  std::span<T> mutable_values() {
    check_type(kDTypeOf<T>);
    return {reinterpret_cast<T*>(mutable_raw()), static_cast<size_t>(elements())};
  }
  std::byte* mutable_raw();

  // The last axis as columns, all others together as rows.
  template <typename T>
  MatrixView<const T> matrix() const {
    return {values<T>().data(), matrix_rows(), matrix_cols()};
  }
  template <typename T>
  MatrixView<T> mutable_matrix() {
    return {mutable_values<T>().data(), matrix_rows(), matrix_cols()};
  }
  // Entry `index` of the first axis as a matrix: head h of [heads, rows, dim].
  template <typename T>
  MatrixView<const T> matrix(int64_t index) const {
    const int64_t rows = entry_rows(index);
    return {values<T>().data() + index * rows * shape_.back(), rows, shape_.back()};
  }
  template <typename T>
  MatrixView<T> mutable_matrix(int64_t index) {
    const int64_t rows = entry_rows(index);
    return {mutable_values<T>().data() + index * rows * shape_.back(), rows, shape_.back()};
  }

  // The same elements under another shape of equally many. Throws Error{kInvalidArgument}.
  Tensor reshaped(Shape shape) const;
  Tensor clone() const;

 private:
  void check_type(DType wanted) const;
  int64_t matrix_rows() const { return axes_product(0); }
  int64_t entry_rows(int64_t index) const {
    FOVEA_ASSERT(rank() >= 2 && index >= 0 && index < size(0));
    static_cast<void>(index);
    return axes_product(1);
  }
  // Of all axes from `first` to the last but one. Not elements() / back(), which may be 0 / 0.
  int64_t axes_product(int first) const {
    int64_t product = 1;
    for (int axis = first; axis < rank() - 1; ++axis) product *= size(axis);
    return product;
  }
  int64_t matrix_cols() const { return shape_.rank() == 0 ? 1 : shape_.back(); }

  DType dtype_ = DType::kF32;
  Shape shape_;
  const std::byte* data_ = nullptr;
  std::shared_ptr<std::byte> owned_;        // null when borrowed
  std::shared_ptr<const void> keep_alive_;  // null when owned
};

template <typename T>
Tensor Tensor::from(const Shape& shape, std::span<const T> values) {
  if (shape.elements() != static_cast<int64_t>(values.size())) {
    fail(ErrorKind::kInvalidArgument, "shape {} needs {} values but {} were given",
         to_string(shape), shape.elements(), values.size());
  }
  Tensor tensor = uninitialized(shape, kDTypeOf<T>);
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>().begin());
  return tensor;
}

}  // namespace fovea
