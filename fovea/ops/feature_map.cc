#include "fovea/ops/feature_map.h"

namespace fovea::ops {

FeatureMap::FeatureMap(const Value& x) {
  if (x.watched()) {
    value_ = x;
  } else {
    blocked_ = BlockedImage(x.tensor);
  }
}

FeatureMap max_pool2d(const FeatureMap& x, const PoolGeometry& geometry) {
  if (x.watched()) return FeatureMap(max_pool2d(x.value(), geometry));
  return FeatureMap(max_pool(x.blocked(), geometry));
}

Value max_pool2d(const Value& x, const PoolGeometry& geometry) {
  Tensor out = max_pool(x.tensor, geometry);
  if (!x.watched()) return out;
  return x.tape->record(
      std::move(out), {x.node},
      [input = x.tensor, geometry](const Tensor& gradient, InputGradients& inputs) {
        inputs.add(0, max_pool_gradient(input, geometry, gradient));
      });
}

Value average_pool2d(const Value& x, const PoolGeometry& geometry) {
  Tensor out = average_pool(x.tensor, geometry);
  if (!x.watched()) return out;
  return x.tape->record(
      std::move(out), {x.node},
      [shape = x.shape(), geometry](const Tensor& gradient, InputGradients& inputs) {
        inputs.add(0, average_pool_gradient(shape, geometry, gradient));
      });
}

}  // namespace fovea::ops
