#include "fovea/layers/feed_forward.h"

#include "fovea/base/overloaded.h"
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

GatedFeedForward GatedFeedForward::joined(const LayerSource& gate_and_up, const LayerSource& down,
                                          int64_t width, int64_t inner, Activation activation,
                                          bool bias) {
  std::vector<ops::Linear> parts = load_linears(gate_and_up, width, {inner, inner}, bias);
  return {std::move(parts[0]), std::move(parts[1]), load_linear(down, inner, width, bias),
          activation};
}

Value GatedFeedForward::operator()(const Value& x, const Value& residual,
                                   const Tensor& known) const {
  const Value inner = ops::multiply(gate_(x, activation_), up_(x));
  if (scale_ == 1) return run_or_known(down_, inner, residual, known);
  const Value scaled = ops::scale(down_(inner), scale_);
  return residual.tensor.empty() ? scaled : ops::add(residual, scaled);
}

Value feed(const AnyFeedForward& part, const Pass& pass, SiteId site, const Value& x,
           const Value& residual, const Tensor& known) {
  return std::visit(
      Overloaded{[&](const ExpertFeedForward& experts) { return experts(pass, site, x, residual); },
                 [&](const auto& one) { return one(x, residual, known); }},
      part);
}

}  // namespace fovea
