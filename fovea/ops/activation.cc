#include "fovea/ops/activation.h"

#include <utility>

#include "fovea/ops/check.h"

namespace fovea::ops {

Value activation(const Value& x, Activation function) {
  require_f32("activation", x);
  if (function == Activation::kNone) return x;
  Tensor out = Tensor::uninitialized(x.shape());
  apply_activation(function, x.tensor.values<float>(), out.mutable_values<float>());
  if (!x.watched()) return out;
  return x.tape->record(
      std::move(out), {x.node},
      [function, input = x.tensor](const Tensor& gradient, InputGradients& inputs) {
        Tensor result = Tensor::uninitialized(gradient.shape());
        activation_gradient(function, input.values<float>(), gradient.values<float>(),
                            result.mutable_values<float>());
        inputs.add(0, std::move(result));
      });
}

}  // namespace fovea::ops
