// The feed-forward part of a block, which works on each position by itself.
#pragma once

#include <variant>

#include "fovea/layers/experts.h"

namespace fovea {

// down(activation(up(x))) + residual. `known` is the result, if an earlier run computed it
// (known_output()).
class FeedForward {
 public:
  FeedForward(ops::Linear up, ops::Linear down, Activation activation)
      : up_(std::move(up)), down_(std::move(down)), activation_(activation) {}

  Value operator()(const Value& x, const Value& residual = {}, const Tensor& known = {}) const;

 private:
  ops::Linear up_, down_;
  Activation activation_;
};

// down(activation(gate(x)) * up(x)) + residual (Shazeer 2020, arXiv:2002.05202).
class GatedFeedForward {
 public:
  // "gate_proj", "up_proj" and "down_proj".
  GatedFeedForward(const LayerSource& source, int64_t width, int64_t inner, Activation activation,
                   bool bias);
  GatedFeedForward(ops::Linear gate, ops::Linear up, ops::Linear down, Activation activation)
      : gate_(std::move(gate)),
        up_(std::move(up)),
        down_(std::move(down)),
        activation_(activation) {}
  // One matrix holds the rows of the gate, then those of `up`.
  static GatedFeedForward joined(const LayerSource& gate_and_up, const LayerSource& down,
                                 int64_t width, int64_t inner, Activation activation, bool bias);

  // What the part gives is multiplied by this before it is added to the residual (Granite).
  void set_scale(float scale) { scale_ = scale; }

  Value operator()(const Value& x, const Value& residual = {}, const Tensor& known = {}) const;

 private:
  ops::Linear gate_, up_, down_;
  Activation activation_;
  float scale_ = 1;
};

using AnyFeedForward = std::variant<FeedForward, GatedFeedForward, ExpertFeedForward>;

// Runs whichever it is, in the block of `site`.
Value feed(const AnyFeedForward& part, const Pass& pass, SiteId site, const Value& x,
           const Value& residual = {}, const Tensor& known = {});

}  // namespace fovea
