// Layer norm or RMS norm with a checkpoint's weights.
#pragma once

#include "fovea/layers/layer_source.h"

namespace fovea {

class Norm {
 public:
  // Loads a layer norm from "weight" and, if the model has one, "bias".
  static Norm layer(const LayerSource& source, int64_t width, double epsilon, bool bias = true);
  // Loads an RMS norm from "weight". Gemma stores the weight minus 1; `offset` is added to it.
  static Norm rms(const LayerSource& source, int64_t width, double epsilon, float offset = 0);
  // A layer norm without weights.
  static Norm plain(double epsilon);
  // A layer norm of each head by itself, in rows of all heads. "weight" is [heads, head_dim].
  static Norm layer_of_heads(const LayerSource& source, int64_t heads, int64_t head_dim,
                             double epsilon);

  Value operator()(const Value& x) const;

  const Tensor& weight() const { return weight_; }  // empty: all 1
  const Tensor& bias() const { return bias_; }      // empty for RMS norm
  float epsilon() const { return epsilon_; }

 private:
  Norm(bool rms, Tensor weight, Tensor bias, double epsilon)
      : rms_(rms),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        epsilon_(static_cast<float>(epsilon)) {}
  bool rms_;
  Tensor weight_;
  Tensor bias_;
  float epsilon_;
  int64_t heads_ = 0;  // that are normalised one by one; 0: the whole row is
};

}  // namespace fovea
