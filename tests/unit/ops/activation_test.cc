#include "fovea/ops/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

using Function = double (*)(double);

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

const std::vector<std::pair<Activation, Function>>& functions() {
  static const std::vector<std::pair<Activation, Function>> all{
      {Activation::kRelu, [](double x) { return x > 0 ? x : 0; }},
      {Activation::kGelu, [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }},
      {Activation::kGeluTanh,
       [](double x) {
         return 0.5 * x *
                (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
       }},
      {Activation::kQuickGelu, [](double x) { return x * sigmoid(1.702 * x); }},
      {Activation::kSilu, [](double x) { return x * sigmoid(x); }},
      {Activation::kSigmoid, [](double x) { return sigmoid(x); }},
      {Activation::kTanh, [](double x) { return std::tanh(x); }},
  };
  return all;
}

TEST(ActivationOp, MatchesDoubleWithItsGradient) {
  for (const auto& [activation, function] : functions()) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(static_cast<int>(activation));
      Tensor x = random_tensor({3, 11}, seed, /*deviation=*/2);
      for (float& value : x.mutable_values<float>()) {
        if (std::abs(value) < 1e-3f)
          value = 0.25f;  // differences across ReLU's corner mean nothing
      }
      check_gradients({.op = [&](const auto& v) { return ops::activation(v[0], activation); },
                       .reference =
                           [&](const auto& v) {
                             Doubles result;
                             for (const double value : v[0]) result.push_back(function(value));
                             return result;
                           },
                       .inputs = {x}},
                      seed + 10);
    }
  }
}

TEST(ActivationOp, NoneIsTheValueItself) {
  Tape tape;
  const Value x = tape.watch(random_tensor({3}, 1));
  EXPECT_EQ(ops::activation(x, Activation::kNone).node, x.node);
  EXPECT_EQ(tape.node_count(), 1);
}

TEST(ActivationOp, RefusesOtherTypes) {
  EXPECT_THROW(ops::activation(Tensor(Shape{2}, DType::kF16), Activation::kGelu), Error);
}

}  // namespace
}  // namespace fovea
