// Linear layers: x W^T + bias over the last axis.
#pragma once

#include "fovea/kernels/matmul.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

// The general form: every part may be watched. `weight` is [out, in], `bias` [out] or left out.
Value linear(const Value& x, const Value& weight, const Value& bias = {});

// The form for models: weights as PackedMatrix holds them, never watched. Copies share the packed
// weights.
class Linear {
 public:
  // As PackedMatrix; `bias` is floating point [out] or left out.
  explicit Linear(const StoredMatrix& weight, const Tensor& bias = {}, DType compute = DType::kF32,
                  WeightLayout layout = WeightLayout::kOutIn);
  explicit Linear(PackedMatrix weight, const Tensor& bias = {});

  int64_t in() const { return weight_.in(); }
  int64_t out() const { return weight_.out(); }
  const PackedMatrix& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

  // activation(x W^T + bias) + residual, in one pass unless something is watched. `residual` has
  // the shape of the result or is left out.
  Value operator()(const Value& x, Activation function = Activation::kNone,
                   const Value& residual = {}) const;

  // The same without an activation, of which the result is known already; only its gradient is
  // followed. `residual` as above.
  Value known(const Value& x, const Value& residual, const Tensor& result) const;

 private:
  Tensor run(const Value& x, Activation function, const Value& residual) const;
  PackedMatrix weight_;
  Tensor bias_;
};

}  // namespace fovea::ops
