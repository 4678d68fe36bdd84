// Group norm of pictures.
#pragma once

#include <span>

#include "fovea/kernels/activation.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// x <- activation((x - mean) / sqrt(variance + epsilon) * weight + bias), mean and variance of each
// picture's channels group by group (arXiv:1803.08494). `x` is f32 [batch, channels, height, width]
// that nobody else holds; weight and bias are [channels]. Throws Error{kInvalidArgument} unless
// the groups divide the channels and the sizes agree.
void group_norm(Tensor& x, int64_t groups, std::span<const float> weight,
                std::span<const float> bias, float epsilon, Activation activation);

}  // namespace fovea
