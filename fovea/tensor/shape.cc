#include "fovea/tensor/shape.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"

namespace fovea {

Shape::Shape(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {
  // Bytes must fit too, so the count stays 8 times below the limit.
  constexpr int64_t kMostElements = INT64_MAX / 8;
  for (const int64_t size : sizes_) {
    if (size < 0) {
      fail(ErrorKind::kInvalidArgument, "shape [{}] has a negative size {}",
           fmt::join(sizes_, ", "), size);
    }
    if (size == 0) elements_ = 0;
  }
  if (elements_ == 0) return;
  for (const int64_t size : sizes_) {
    if (elements_ > kMostElements / size) {
      fail(ErrorKind::kOutOfMemory,
           "shape [{}] has more elements than memory can address; use a smaller input",
           fmt::join(sizes_, ", "));
    }
    elements_ *= size;
  }
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.sizes(), ", "));
}

}  // namespace fovea
