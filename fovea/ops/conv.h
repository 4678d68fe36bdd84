// Two-dimensional convolution of [batch, channels, height, width].
#pragma once

#include "fovea/kernels/conv.h"
#include "fovea/ops/feature_map.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

// Weights are packed once and never watched. Copies share them. Weights and inputs are rounded to
// `compute` first; gradients are f32.
class Conv2d {
 public:
  Conv2d(const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry,
         DType compute = DType::kF32);

  // max(0, .) of the convolution if `relu`, in one pass unless x is watched.
  Value operator()(const Value& x, bool relu = false) const;
  // The same plus `residual`, unless that is left out, before the maximum. Hand the residual over
  // and nothing is copied.
  FeatureMap operator()(const FeatureMap& x, bool relu, FeatureMap residual = {}) const;

 private:
  PackedConv weight_;
};

}  // namespace fovea::ops
