// Two-dimensional convolution, by oneDNN or of 16-bit integers. Tensors are f32 [batch, channels,
// height, width]; the layouts and types that are fast stay inside, or in a BlockedImage.
#pragma once

#include <array>
#include <memory>

#include "fovea/kernels/blocked_image.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Each pair is for height and width.
struct ConvGeometry {
  std::array<int64_t, 2> stride{1, 1};
  std::array<int64_t, 2> padding{0, 0};  // zeros on both sides
  std::array<int64_t, 2> dilation{1, 1};
  int64_t groups = 1;
};

// [batch, out channels, out height, out width] of a convolution with `weight` [out, in / groups,
// height, width]. Throws Error{kInvalidArgument} if the shapes do not fit each other or nothing
// would be left.
Shape conv_output_shape(const Shape& input, const Shape& weight, const ConvGeometry& geometry);

// Weights that are packed as soon as the first image tells which layout is fastest; the tensor they
// came from is then let go. Copies share them, and apply() may be called from any thread.
class PackedConv {
 public:
  // `weight` is F32, BF16 or F16 [out, in / groups, height, width], `bias` F32 [out] or empty.
  // `compute` is F32 or I16: what weights and inputs are rounded to (fixed_point.h), a unit for
  // each pixel. F32 is used, and a line logged, without instructions for it; and where there are
  // several groups or less than 16 channels.
  PackedConv(const Tensor& weight, Tensor bias, const ConvGeometry& geometry,
             DType compute = DType::kF32);

  const ConvGeometry& geometry() const;
  DType compute_dtype() const;  // what is used

  // The convolution plus bias, then max(0, .) if `relu`.
  Tensor apply(const Tensor& input, bool relu = false) const;
  // The same plus `residual`, unless that is left out, before the maximum. A residual that nobody
  // else holds is written over.
  BlockedImage apply(const BlockedImage& input, bool relu, BlockedImage residual = {}) const;
  // The weights as f32 [out, in / groups, height, width] again, as rounded for `compute_dtype`.
  Tensor unpack() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The gradient with respect to the input, from that with respect to the output.
Tensor conv_input_gradient(const Shape& input, const Tensor& weight, const ConvGeometry& geometry,
                           const Tensor& gradient);

}  // namespace fovea
