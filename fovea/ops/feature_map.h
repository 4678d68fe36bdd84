// Feature maps on their way through the convolutions of a trunk, and pooling.
#pragma once

#include "fovea/kernels/blocked_image.h"
#include "fovea/kernels/pool.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

// [batch, channels, height, width], in the layout in which convolutions are fastest; a watched map
// is an ordinary value on its tape. An empty one stands for an argument that is left out.
class FeatureMap {
 public:
  FeatureMap() = default;
  explicit FeatureMap(const Value& x);
  explicit FeatureMap(BlockedImage image) : blocked_(std::move(image)) {}

  bool empty() const { return blocked_.empty() && !watched(); }
  bool watched() const { return value_.watched(); }
  const Shape& shape() const { return watched() ? value_.shape() : blocked_.shape(); }
  // The ordinary value again.
  Value value() const { return watched() ? value_ : Value(blocked_.plain()); }
  // The map in the fast layout; only if it is not watched.
  const BlockedImage& blocked() const { return blocked_; }
  BlockedImage take_blocked() && { return std::move(blocked_); }

 private:
  BlockedImage blocked_;
  Value value_;  // only if it is watched
};

FeatureMap max_pool2d(const FeatureMap& x, const PoolGeometry& geometry);

Value max_pool2d(const Value& x, const PoolGeometry& geometry);
Value average_pool2d(const Value& x, const PoolGeometry& geometry);

}  // namespace fovea::ops
