#include "fovea/tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "fovea/tensor/large_blocks.h"

namespace fovea {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest SIMD vector

std::shared_ptr<std::byte> allocate(size_t bytes, bool zero) {
  if (bytes == 0) return nullptr;
  std::shared_ptr<std::byte> memory;
  if (bytes >= kLargeFrom) {
    memory = allocate_large(bytes, zero);
  } else {
    // Aligned here: aligned_alloc() takes a larger block apart and free() joins it again, which for
    // a small tensor takes longer than what is done with it.
    size_t space = bytes + kAlignment;
    void* const block = std::malloc(space);
    if (void* aligned = block; block != nullptr) {
      std::align(kAlignment, bytes, aligned, space);
      memory.reset(static_cast<std::byte*>(aligned), [block](std::byte*) { std::free(block); });
      if (zero) std::memset(aligned, 0, bytes);
    }
  }
  if (memory == nullptr) {
    fail(ErrorKind::kOutOfMemory,
         "{} bytes of memory were asked for and are not to be had; use a smaller input", bytes);
  }
  return memory;
}

}  // namespace

Tensor::Tensor(Shape shape, DType dtype) : dtype_(dtype), shape_(std::move(shape)) {
  owned_ = allocate(bytes(), /*zero=*/true);
  data_ = owned_.get();
}

Tensor Tensor::uninitialized(Shape shape, DType dtype) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.owned_ = allocate(tensor.bytes(), /*zero=*/false);
  tensor.data_ = tensor.owned_.get();
  return tensor;
}

Tensor Tensor::borrow(Shape shape, DType dtype, const std::byte* data,
                      std::shared_ptr<const void> keep_alive) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.data_ = data;
  tensor.keep_alive_ = std::move(keep_alive);
  return tensor;
}

std::byte* Tensor::mutable_raw() {
  FOVEA_ASSERT(empty() || (owned_ != nullptr && owned_.use_count() == 1));
  return owned_.get();
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != elements()) {
    fail(ErrorKind::kInvalidArgument, "shape {} cannot be seen as {}: {} elements against {}",
         to_string(shape_), to_string(shape), elements(), shape.elements());
  }
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Tensor Tensor::clone() const {
  Tensor copy = uninitialized(shape_, dtype_);
  if (bytes() > 0) std::memcpy(copy.mutable_raw(), data_, bytes());
  return copy;
}

void Tensor::check_type(DType wanted) const {
  if (wanted != dtype_) {
    fail(ErrorKind::kInternal, "a tensor of {} was read as {}; please report this",
         dtype_name(dtype_), dtype_name(wanted));
  }
}

}  // namespace fovea
