#include "fovea/layers/feed_forward.h"

#include "fovea/ops/elementwise.h"

namespace fovea {
namespace {

Value run_or_known(const ops::Linear& down, const Value& inner, const Value& residual,
                   const Tensor& known) {
  return known.empty() ? down(inner, Activation::kNone, residual)
                       : down.known(inner, residual, known);
}

}  // namespace

Value FeedForward::operator()(const Value& x, const Value& residual, const Tensor& known) const {
  return run_or_known(down_, up_(x, activation_), residual, known);
}

GatedFeedForward::GatedFeedForward(const LayerSource& source, int64_t width, int64_t inner,
                                   Activation activation, bool bias)
    : gate_(load_linear(source["gate_proj"], width, inner, bias)),
      up_(load_linear(source["up_proj"], width, inner, bias)),
      down_(load_linear(source["down_proj"], inner, width, bias)),
      activation_(activation) {}

Value GatedFeedForward::operator()(const Value& x, const Value& residual,
                                   const Tensor& known) const {
  return run_or_known(down_, ops::multiply(gate_(x, activation_), up_(x)), residual, known);
}

}  // namespace fovea
