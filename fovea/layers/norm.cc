#include "fovea/layers/norm.h"

#include "fovea/ops/norm.h"

namespace fovea {

Norm Norm::layer(const LayerSource& source, int64_t width, double epsilon) {
  return {false, load_vector(source, "weight", width), load_vector(source, "bias", width), epsilon};
}

Norm Norm::rms(const LayerSource& source, int64_t width, double epsilon, float offset) {
  Tensor weight = load_vector(source, "weight", width);
  if (offset != 0) {
    weight = weight.clone();
    for (float& value : weight.mutable_values<float>()) value += offset;
  }
  return {true, std::move(weight), Tensor(), epsilon};
}

Value Norm::operator()(const Value& x) const {
  return rms_ ? ops::rms_norm(x, weight_, epsilon_) : ops::layer_norm(x, weight_, bias_, epsilon_);
}

}  // namespace fovea
