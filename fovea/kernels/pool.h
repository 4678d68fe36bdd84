// Max and average pooling of f32 [batch, channels, height, width].
#pragma once

#include <array>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Each pair is for height and width. Windows that would stick out at the end are dropped (PyTorch's
// ceil_mode false).
struct PoolGeometry {
  std::array<int64_t, 2> kernel{2, 2};
  std::array<int64_t, 2> stride{2, 2};
  std::array<int64_t, 2> padding{0, 0};  // at most half the kernel
};

// Throws Error{kInvalidArgument} if the geometry does not fit.
Shape pool_output_shape(const Shape& input, const PoolGeometry& geometry);

// Padding never wins; NaN does.
Tensor max_pool(const Tensor& input, const PoolGeometry& geometry);
// The gradient goes to the first of equal largest elements.
Tensor max_pool_gradient(const Tensor& input, const PoolGeometry& geometry, const Tensor& gradient);

// Padding counts as zeros.
Tensor average_pool(const Tensor& input, const PoolGeometry& geometry);
Tensor average_pool_gradient(const Shape& input, const PoolGeometry& geometry,
                             const Tensor& gradient);

}  // namespace fovea
