// Layer norm and RMS norm over the rows of a matrix, and their gradients.
#pragma once

#include <span>

#include "fovea/tensor/view.h"

namespace fovea {

// out = (x - mean) / sqrt(variance + epsilon) * weight + bias, row by row (arXiv:1607.06450). The
// variance is taken in a second pass around the mean, so a large common offset costs no digits.
// An empty weight counts as ones, an empty bias as zeros. `out` may be `x`.
void layer_norm_rows(MatrixView<const float> x, std::span<const float> weight,
                     std::span<const float> bias, float epsilon, MatrixView<float> out);

// out = x / sqrt(mean of x^2 + epsilon) * weight (arXiv:1910.07467). `out` may be `x`.
void rms_norm_rows(MatrixView<const float> x, std::span<const float> weight, float epsilon,
                   MatrixView<float> out);

// Where gradients go; what is left empty is not computed.
struct NormGradients {
  MatrixView<float> x;
  std::span<float> weight;
  std::span<float> bias;  // layer norm only
};

void layer_norm_rows_gradient(MatrixView<const float> x, std::span<const float> weight,
                              float epsilon, MatrixView<const float> gradient, NormGradients out);
void rms_norm_rows_gradient(MatrixView<const float> x, std::span<const float> weight, float epsilon,
                            MatrixView<const float> gradient, NormGradients out);

}  // namespace fovea
