#include "fovea/ops/conv.h"

#include <gtest/gtest.h>

#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::all_close;
using support::check_gradients;
using support::Doubles;
using support::random_tensor;
using support::to_doubles;

struct Case {
  Shape input, weight;
  ConvGeometry geometry;
};

Doubles double_conv(const Case& c, const Doubles& x, const Doubles& weight, const Doubles& bias) {
  const auto& [in, w, g] = c;
  const Shape out = conv_output_shape(in, w, g);
  Doubles result;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t row = 0; row < out[2]; ++row)
        for (int64_t col = 0; col < out[3]; ++col) {
          double sum = bias.empty() ? 0 : bias[static_cast<size_t>(o)];
          for (int64_t i = 0; i < w[1]; ++i)
            for (int64_t ky = 0; ky < w[2]; ++ky)
              for (int64_t kx = 0; kx < w[3]; ++kx) {
                const int64_t y = row * g.stride[0] - g.padding[0] + ky * g.dilation[0];
                const int64_t at = col * g.stride[1] - g.padding[1] + kx * g.dilation[1];
                if (y < 0 || y >= in[2] || at < 0 || at >= in[3]) continue;
                const int64_t channel = o / (w[0] / g.groups) * w[1] + i;
                sum += x[static_cast<size_t>(((n * in[1] + channel) * in[2] + y) * in[3] + at)] *
                       weight[static_cast<size_t>(((o * w[1] + i) * w[2] + ky) * w[3] + kx)];
              }
          result.push_back(sum);
        }
  return result;
}

TEST(Conv2d, MatchesDoubleWithItsGradient) {
  const std::vector<Case> cases{
      {{1, 2, 5, 6}, {3, 2, 3, 2}, {}},
      {{2, 3, 6, 5}, {2, 3, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}}},
      {{1, 4, 7, 6}, {6, 2, 2, 3}, {.padding = {1, 0}, .dilation = {2, 1}, .groups = 2}},
      {{1, 3, 4, 6}, {5, 3, 2, 2}, {.stride = {2, 2}}},
  };
  uint64_t seed = 1;
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.input));
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    for (const Tensor& bias : {Tensor(), random_tensor({c.weight[0]}, ++seed)}) {
      const ops::Conv2d layer(w, bias, c.geometry);
      const auto reference = [&](const Doubles& image, bool relu) {
        Doubles result = double_conv(c, image, to_doubles(w), to_doubles(bias));
        for (double& value : result) value = relu ? std::max(value, 0.0) : value;
        return result;
      };
      for (const bool relu : {false, true}) {
        check_gradients({.op = [&](const auto& v) { return layer(v[0], relu); },
                         .reference = [&](const auto& v) { return reference(v[0], relu); },
                         .inputs = {x}},
                        ++seed);
      }
    }
  }
}

TEST(Conv2d, GradientThroughFixedWeightsUsesTheRoundedWeights) {
  const Tensor x = random_tensor({1, 16, 5, 7}, 1), w = random_tensor({4, 16, 3, 3}, 2);
  const ConvGeometry geometry{.padding = {1, 1}};
  const ops::Conv2d layer(w, {}, geometry, DType::kI16);
  const PackedConv packed(w, {}, geometry, DType::kI16);
  Tape tape;
  const Value value = tape.watch(x), out = layer(value);
  const Tensor seed = random_tensor({1, 4, 5, 7}, 3);
  const Tensor expected = conv_input_gradient(x.shape(), packed.unpack(), geometry, seed);
  EXPECT_TRUE(all_close(tape.gradient(out, seed, {value})[0], to_doubles(expected), 0));
}

TEST(Conv2d, RefusesShapesThatDoNotFit) {
  const Value x = random_tensor({1, 3, 5, 5}, 1);
  EXPECT_THROW(ops::Conv2d(random_tensor({2, 2, 3, 3}, 2), {}, {})(x), Error);
  EXPECT_THROW(ops::Conv2d(random_tensor({2, 3, 3, 3}, 2), random_tensor({3}, 3), {}), Error);
  EXPECT_THROW(ops::Conv2d(random_tensor({2, 3, 7, 3}, 2), {}, {})(x), Error);
}

}  // namespace
}  // namespace fovea
