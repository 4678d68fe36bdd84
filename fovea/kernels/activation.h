// Activation functions, element by element.
#pragma once

#include <span>

namespace fovea {

enum class Activation {
  kNone,
  kRelu,       // max(0, x)
  kGelu,       // x Phi(x), with erf: what "gelu" means in checkpoints (arXiv:1606.08415)
  kGeluTanh,   // its tanh form: "gelu_new", "gelu_pytorch_tanh"
  kQuickGelu,  // x sigmoid(1.702 x): CLIP
  kSilu,       // x sigmoid(x)
  kSigmoid,
  kTanh,
};

// out[i] = f(x[i]); `out` may be `x`.
void apply_activation(Activation activation, std::span<const float> x, std::span<float> out);

// out[i] = gradient[i] * f'(x[i]); `out` may be `x` or `gradient`.
void activation_gradient(Activation activation, std::span<const float> x,
                         std::span<const float> gradient, std::span<float> out);

}  // namespace fovea
