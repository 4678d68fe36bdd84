#include "fovea/layers/norm.h"

#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/norm.h"

namespace fovea {

Norm Norm::layer(const LayerSource& source, int64_t width, double epsilon, bool bias) {
  return {false, load_vector(source, "weight", width),
          bias ? load_vector(source, "bias", width) : Tensor(), epsilon};
}

Norm Norm::rms(const LayerSource& source, int64_t width, double epsilon, float offset) {
  Tensor weight = load_vector(source, "weight", width);
  if (offset != 0) {
    weight = weight.clone();
    for (float& value : weight.mutable_values<float>()) value += offset;
  }
  return {true, std::move(weight), Tensor(), epsilon};
}

Norm Norm::plain(double epsilon) {
  return {false, Tensor(), Tensor(), epsilon};
}

Norm Norm::layer_of_heads(const LayerSource& source, int64_t heads, int64_t head_dim,
                          double epsilon) {
  const Tensor weight = source.weights.tensor("weight", {heads, head_dim}, DType::kF32);
  Norm norm(false, weight.reshaped({heads * head_dim}), Tensor(), epsilon);
  norm.heads_ = heads;
  return norm;
}

Value Norm::operator()(const Value& x) const {
  if (heads_ > 0) {
    const int64_t rows = x.shape()[0], width = weight_.size(0);
    const Value apart = ops::reshape(x, {rows, heads_, width / heads_});
    const Value even = ops::layer_norm(apart, {}, {}, epsilon_);
    return ops::multiply(ops::reshape(even, {rows, width}), weight_);
  }
  return rms_ ? ops::rms_norm(x, weight_, epsilon_) : ops::layer_norm(x, weight_, bias_, epsilon_);
}

}  // namespace fovea
