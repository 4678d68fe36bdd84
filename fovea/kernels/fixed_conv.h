// Private to this folder: convolutions whose products are of 16-bit integers (fixed_product.h).
#pragma once

#include "fovea/kernels/conv_layout.h"
#include "fovea/kernels/fixed_product.h"

namespace fovea {

// Whether it is worth it: each pixel must bring terms enough for one unit of its own.
bool can_fix_conv(const Shape& weight, const ConvGeometry& geometry);

// From [out, in, height, width], F32, BF16 or F16.
FixedWeights fix_conv_weights(const Tensor& weight);
// f32 [out, in, height, width] again, as rounded.
Tensor conv_weights_of(const FixedWeights& weights, const Shape& shape);

// max(0, input * weights + bias + residual), with the maximum if `relu` and the residual if given.
// `shape` is that of the weights, `output` that of the result.
BlockedImage fixed_conv(const BlockedImage& input, const FixedWeights& weights, const Shape& shape,
                        const ConvGeometry& geometry, std::span<const float> bias, bool relu,
                        BlockedImage residual, const Shape& output);

}  // namespace fovea
