// Tensors of every type and shape, and how to compare them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/io/named_tensor.h"
#include "support/data.h"

namespace fovea {

inline const std::vector<DType> kAllTypes{
    DType::kBool, DType::kU8,  DType::kI8,  DType::kU16, DType::kI16, DType::kF16, DType::kBF16,
    DType::kU32,  DType::kI32, DType::kF32, DType::kU64, DType::kI64, DType::kF64};

inline std::vector<Shape> odd_shapes() {
  return {Shape{},        Shape{1},       Shape{0},          Shape{7},
          Shape{3, 0, 2}, Shape{3, 5},    Shape{1, 1, 1, 1}, Shape{2, 3, 1, 5, 4},
          Shape{33, 65},  Shape{2, 40, 3}};
}

// Elements whose bytes all differ from their neighbours', valid for the type.
inline Tensor sample_tensor(const Shape& shape, DType dtype) {
  Tensor tensor(shape, dtype);
  std::byte* bytes = tensor.mutable_raw();
  for (size_t i = 0; i < tensor.bytes(); ++i) {
    bytes[i] = static_cast<std::byte>(dtype == DType::kBool ? (i % 3 == 1) : (i * 37 + 11) % 251);
  }
  return tensor;
}

inline ::testing::AssertionResult same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
    return ::testing::AssertionFailure()
           << dtype_name(a.dtype()) << to_string(a.shape()) << " against " << dtype_name(b.dtype())
           << to_string(b.shape());
  }
  for (size_t i = 0; i < a.bytes(); ++i) {
    if (a.raw()[i] != b.raw()[i])
      return ::testing::AssertionFailure() << "byte " << i << " differs";
  }
  return ::testing::AssertionSuccess();
}

// Owns a copy of `text` that begins on an 8-byte boundary plus `shift`.
class ShiftedBytes {
 public:
  explicit ShiftedBytes(std::string_view text, size_t shift = 0)
      : words_(text.size() / 8 + 2), size_(text.size()), shift_(shift) {
    std::memcpy(reinterpret_cast<char*>(words_.data()) + shift, text.data(), text.size());
  }
  Bytes bytes() const {
    return {reinterpret_cast<const std::byte*>(words_.data()) + shift_, size_};
  }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
  size_t shift_;
};

inline std::filesystem::path io_data(std::string_view name) {
  return test_data("io") / name;
}

}  // namespace fovea
