// From one element type to another.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

// The same values as the floating-point type `dtype`; the tensor itself if it has that type
// already. Rounds to nearest even where it must. Throws Error{kUnsupported} if `dtype` is not
// floating point.
Tensor convert(const Tensor& tensor, DType dtype);

}  // namespace fovea
