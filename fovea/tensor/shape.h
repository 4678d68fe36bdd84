// The sizes of a tensor's axes, outermost first.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace fovea {

class Shape {
 public:
  Shape() = default;  // a scalar
  // Throws Error{kInvalidArgument} on a negative size or when the element count overflows.
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::vector<int64_t>(sizes)) {}
  explicit Shape(std::vector<int64_t> sizes);

  int rank() const { return static_cast<int>(sizes_.size()); }
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  int64_t back() const { return sizes_.back(); }
  int64_t elements() const { return elements_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  bool operator==(const Shape& other) const { return sizes_ == other.sizes_; }

 private:
  std::vector<int64_t> sizes_;
  int64_t elements_ = 1;
};

std::string to_string(const Shape& shape);  // "[12, 64, 64]"

}  // namespace fovea
