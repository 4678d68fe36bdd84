#include "fovea/ops/conv.h"

#include <gtest/gtest.h>

#include "fovea/ops/pool.h"
#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace fovea {
namespace {

using testing::all_close;
using testing::check_gradients;
using testing::Doubles;
using testing::random_tensor;
using testing::to_doubles;

// x[0] image, x[1] weight, x[2] bias where there is one.
Doubles reference_conv(const std::vector<Doubles>& x, const Shape& in, const Shape& w,
                       const ConvGeometry& g) {
  const Shape out = conv_output_shape(in, w, g);
  Doubles result;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t row = 0; row < out[2]; ++row)
        for (int64_t col = 0; col < out[3]; ++col) {
          double sum = x.size() > 2 ? x[2][static_cast<size_t>(o)] : 0;
          for (int64_t i = 0; i < w[1]; ++i)
            for (int64_t ky = 0; ky < w[2]; ++ky)
              for (int64_t kx = 0; kx < w[3]; ++kx) {
                const int64_t y = row * g.stride[0] - g.padding[0] + ky * g.dilation[0];
                const int64_t at = col * g.stride[1] - g.padding[1] + kx * g.dilation[1];
                if (y < 0 || y >= in[2] || at < 0 || at >= in[3]) continue;
                const int64_t channel = o / (w[0] / g.groups) * w[1] + i;
                sum += x[0][static_cast<size_t>(((n * in[1] + channel) * in[2] + y) * in[3] + at)] *
                       x[1][static_cast<size_t>(((o * w[1] + i) * w[2] + ky) * w[3] + kx)];
              }
          result.push_back(sum);
        }
  return result;
}

struct Case {
  Shape input, weight;
  ConvGeometry geometry;
};

TEST(Conv2d, GeneralFormMatchesDoubleWithItsGradients) {
  const std::vector<Case> cases{
      {{1, 2, 5, 6}, {3, 2, 3, 2}, {}},
      {{2, 3, 6, 5}, {2, 3, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}}},
      {{1, 4, 7, 6}, {6, 2, 2, 3}, {.padding = {1, 0}, .dilation = {2, 1}, .groups = 2}},
      {{1, 3, 4, 6}, {5, 3, 2, 2}, {.stride = {2, 2}}},
  };
  uint64_t seed = 1;
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.input));
    const auto reference = [&](const std::vector<Doubles>& x) {
      return reference_conv(x, c.input, c.weight, c.geometry);
    };
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    check_gradients({.op = [&](const auto& v) { return ops::conv2d(v[0], v[1], v[2], c.geometry); },
                     .reference = reference,
                     .inputs = {x, w, bias}},
                    ++seed);
    check_gradients({.op = [&](const auto& v) { return ops::conv2d(v[0], v[1], {}, c.geometry); },
                     .reference = reference,
                     .inputs = {x, w}},
                    ++seed);
    // The packed form, where only the image is watched.
    const ops::Conv2d layer(w, bias, c.geometry);
    for (const bool relu : {false, true}) {
      check_gradients({.op = [&](const auto& v) { return layer(v[0], relu); },
                       .reference =
                           [&](const auto& v) {
                             Doubles result = reference({v[0], to_doubles(w), to_doubles(bias)});
                             for (double& value : result) {
                               if (relu) value = std::max(value, 0.0);
                             }
                             return result;
                           },
                       .inputs = {x}},
                      ++seed);
    }
  }
}

TEST(Conv2d, GradientThroughBf16WeightsUsesTheRoundedWeights) {
  const Tensor x = random_tensor({1, 6, 5, 7}, 1), w = random_tensor({4, 6, 3, 3}, 2);
  const ConvGeometry geometry{.padding = {1, 1}};
  const ops::Conv2d layer(w, {}, geometry, DType::kBF16);
  const PackedConv packed(w, {}, geometry, DType::kBF16);
  Tape tape;
  const Value value = tape.watch(x), out = layer(value);
  const Tensor seed = random_tensor({1, 4, 5, 7}, 3);
  const Tensor weight = convert(convert(w, packed.compute_dtype()), DType::kF32);
  const Tensor expected = conv_input_gradient(x.shape(), weight, geometry, seed);
  EXPECT_TRUE(all_close(tape.gradient(out, seed, {value})[0], to_doubles(expected), 0));
}

TEST(Pool2d, MatchesDoubleWithItsGradients) {
  const Shape in{2, 2, 6, 5};
  const std::vector<PoolGeometry> geometries{
      {},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
      {.kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 1}, .count_padding = false},
  };
  for (const PoolGeometry& g : geometries) {
    const Shape out = pool_output_shape(in, g);
    const auto pooled = [&](const Doubles& x, bool average) {
      Doubles result;
      for (int64_t plane = 0; plane < in[0] * in[1]; ++plane)
        for (int64_t row = 0; row < out[2]; ++row)
          for (int64_t col = 0; col < out[3]; ++col) {
            double sum = 0, largest = -1e30, count = 0;
            for (int64_t ky = 0; ky < g.kernel[0]; ++ky)
              for (int64_t kx = 0; kx < g.kernel[1]; ++kx) {
                const int64_t y = row * g.stride[0] - g.padding[0] + ky;
                const int64_t at = col * g.stride[1] - g.padding[1] + kx;
                const bool inside = y >= 0 && y < in[2] && at >= 0 && at < in[3];
                if (inside || g.count_padding) count += 1;
                if (!inside) continue;
                const double value = x[static_cast<size_t>((plane * in[2] + y) * in[3] + at)];
                sum += value;
                largest = std::max(largest, value);
              }
            result.push_back(average ? sum / count : largest);
          }
      return result;
    };
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      check_gradients({.op = [&](const auto& x) { return ops::max_pool2d(x[0], g); },
                       .reference = [&](const auto& x) { return pooled(x[0], false); },
                       .inputs = {random_tensor(in, seed)}},
                      seed + 10);
      check_gradients({.op = [&](const auto& x) { return ops::average_pool2d(x[0], g); },
                       .reference = [&](const auto& x) { return pooled(x[0], true); },
                       .inputs = {random_tensor(in, seed)}},
                      seed + 10);
    }
  }
}

TEST(Conv2d, RefusesShapesThatDoNotFit) {
  const Value x = random_tensor({1, 3, 5, 5}, 1);
  EXPECT_THROW(ops::conv2d(x, random_tensor({2, 2, 3, 3}, 2), {}, {}), Error);
  EXPECT_THROW(ops::conv2d(x, random_tensor({2, 3, 3, 3}, 2), random_tensor({3}, 3), {}), Error);
  EXPECT_THROW(ops::conv2d(x, random_tensor({2, 3, 7, 3}, 2), {}, {}), Error);
  EXPECT_THROW(ops::max_pool2d(random_tensor({3, 5}, 1), {}), Error);
}

}  // namespace
}  // namespace fovea
