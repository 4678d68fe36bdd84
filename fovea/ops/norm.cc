#include "fovea/ops/norm.h"

#include <utility>

#include "fovea/kernels/norm.h"
#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

using NormKernel = void (*)(MatrixView<const float>, std::span<const float>, float,
                            MatrixView<const float>, NormGradients);

void check_norm(const char* op, const Value& x, const Value& weight, const Value& bias) {
  require_f32(op, x);
  if (x.shape().rank() == 0) fail(ErrorKind::kInvalidArgument, "{}: a scalar has no last axis", op);
  require_vector(op, weight, x.shape().back());
  require_vector(op, bias, x.shape().back());
}

// Inputs are x, weight and, for layer norm, bias.
Tape::Vjp norm_vjp(NormKernel kernel, const Tensor& x, const Tensor& weight, float epsilon,
                   bool has_bias) {
  return [=](const Tensor& gradient, InputGradients& inputs) {
    Tensor x_gradient, weight_gradient, bias_gradient;
    NormGradients wanted;
    if (inputs.wanted(0)) {
      x_gradient = Tensor::uninitialized(x.shape());
      wanted.x = x_gradient.mutable_matrix<float>();
    }
    if (inputs.wanted(1)) {
      weight_gradient = Tensor::uninitialized({x.shape().back()});
      wanted.weight = weight_gradient.mutable_values<float>();
    }
    if (has_bias && inputs.wanted(2)) {
      bias_gradient = Tensor::uninitialized({x.shape().back()});
      wanted.bias = bias_gradient.mutable_values<float>();
    }
    kernel(x.matrix<float>(), weight.values<float>(), epsilon, gradient.matrix<float>(), wanted);
    inputs.add(0, std::move(x_gradient));
    inputs.add(1, std::move(weight_gradient));
    if (has_bias) inputs.add(2, std::move(bias_gradient));
  };
}

}  // namespace

Value layer_norm(const Value& x, const Value& weight, const Value& bias, float epsilon) {
  check_norm("layer_norm", x, weight, bias);
  Tensor out = Tensor::uninitialized(x.shape());
  layer_norm_rows(x.tensor.matrix<float>(), weight.tensor.values<float>(),
                  bias.tensor.values<float>(), epsilon, out.mutable_matrix<float>());
  Tape* tape = common_tape({&x, &weight, &bias});
  if (tape == nullptr) return out;
  return tape->record(
      std::move(out), {x.node, weight.node, bias.node},
      norm_vjp(layer_norm_rows_gradient, x.tensor, weight.tensor, epsilon, /*has_bias=*/true));
}

Value rms_norm(const Value& x, const Value& weight, float epsilon) {
  check_norm("rms_norm", x, weight, {});
  Tensor out = Tensor::uninitialized(x.shape());
  rms_norm_rows(x.tensor.matrix<float>(), weight.tensor.values<float>(), epsilon,
                out.mutable_matrix<float>());
  Tape* tape = common_tape({&x, &weight});
  if (tape == nullptr) return out;
  return tape->record(
      std::move(out), {x.node, weight.node},
      norm_vjp(rms_norm_rows_gradient, x.tensor, weight.tensor, epsilon, /*has_bias=*/false));
}

}  // namespace fovea::ops
