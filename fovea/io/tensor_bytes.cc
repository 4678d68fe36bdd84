#include "fovea/io/tensor_bytes.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {

Shape shape_from_file(std::vector<int64_t> sizes, std::string_view where) {
  // Shape checks the same but lists all its sizes, of which a hostile file may have a million.
  const size_t axes = sizes.size();
  const auto negative = std::find_if(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; });
  if (negative != sizes.end()) {
    fail(ErrorKind::kBadFile, "{}: its shape has the negative size {}", where, *negative);
  }
  try {
    return Shape(std::move(sizes));
  } catch (const Error&) {
    fail(ErrorKind::kBadFile, "{}: its shape of {} axes has more elements than memory can address",
         where, axes);
  }
}

void check_bool_bytes(Bytes bytes, std::string_view where) {
  const auto it =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
  if (it != bytes.end()) {
    fail(ErrorKind::kBadFile, "{}: element {} is {}, but true or false is stored as 1 or 0", where,
         it - bytes.begin(), std::to_integer<int>(*it));
  }
}

Tensor tensor_from_bytes(Shape shape, DType dtype, Bytes bytes,
                         std::shared_ptr<const void> keep_alive) {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % dtype_bytes(dtype) == 0;
  if (aligned && keep_alive != nullptr) {
    return Tensor::borrow(std::move(shape), dtype, bytes.data(), std::move(keep_alive));
  }
  Tensor tensor = Tensor::uninitialized(std::move(shape), dtype);
  if (!bytes.empty()) std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace fovea
