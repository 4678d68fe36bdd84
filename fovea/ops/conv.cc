#include "fovea/ops/conv.h"

#include <utility>

#include "fovea/ops/activation.h"
#include "fovea/ops/check.h"
#include "fovea/ops/elementwise.h"
#include "fovea/tensor/convert.h"

namespace fovea::ops {

Conv2d::Conv2d(const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry,
               DType compute)
    : weight_(weight, convert(bias, DType::kF32), geometry, compute) {}

Value Conv2d::operator()(const Value& x, bool relu) const {
  if (!x.watched()) return weight_.apply(x.tensor, relu);
  const Value out = x.tape->record(
      weight_.apply(x.tensor), {x.node},
      [weight = weight_, shape = x.shape()](const Tensor& gradient, InputGradients& inputs) {
        inputs.add(0, conv_input_gradient(shape, weight.unpack(), weight.geometry(), gradient));
      });
  return activation(out, relu ? Activation::kRelu : Activation::kNone);
}

FeatureMap Conv2d::operator()(const FeatureMap& x, bool relu, FeatureMap residual) const {
  if (!x.watched() && !residual.watched()) {
    return FeatureMap(weight_.apply(x.blocked(), relu, std::move(residual).take_blocked()));
  }
  if (residual.empty()) return FeatureMap((*this)(x.value(), relu));
  const Value sum = add((*this)(x.value()), residual.value());
  return FeatureMap(relu ? activation(sum, Activation::kRelu) : sum);
}

}  // namespace fovea::ops
