// What a reader hands out must be readable to the last element.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Reads every element as its C++ type, so that a sanitizer sees memory that is not there and values
// that the type cannot have.
inline void touch(const Tensor& tensor) {
  visit_dtype(tensor.dtype(), [&](auto type) {
    using T = decltype(type);
    volatile T last{};
    for (const T& value : tensor.values<T>()) {
      if constexpr (requires { value.bits; }) {
        last.bits = value.bits;
      } else {
        last = value;
      }
    }
    static_cast<void>(last);
  });
}

// Ends the process, which is how a fuzzer learns of a broken promise.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace fovea
