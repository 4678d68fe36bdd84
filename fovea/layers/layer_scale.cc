#include "fovea/layers/layer_scale.h"

namespace fovea {

ops::Linear load_scaled_linear(const LayerSource& source, int64_t in, int64_t out, bool bias,
                               const Tensor& scale) {
  Tensor weight = source.weights.tensor("weight", {out, in}, DType::kF32).clone();
  Tensor shift;
  if (bias) shift = load_vector(source, "bias", out).clone();
  const std::span<const float> factors = scale.values<float>();
  for (int64_t row = 0; row < out; ++row) {
    const float factor = factors[static_cast<size_t>(row)];
    float* numbers = weight.mutable_values<float>().data() + row * in;
    for (int64_t i = 0; i < in; ++i) numbers[i] *= factor;
    if (bias) shift.mutable_values<float>()[static_cast<size_t>(row)] *= factor;
  }
  return ops::Linear(weight, shift, source.compute);
}

}  // namespace fovea
