#include "fovea/ops/feature_map.h"

#include "fovea/ops/pool.h"

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

}  // namespace fovea::ops
