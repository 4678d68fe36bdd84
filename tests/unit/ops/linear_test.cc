#include "fovea/ops/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fovea/tensor/convert.h"
#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::all_close;
using support::check_gradients;
using support::Doubles;
using support::random_tensor;
using support::to_doubles;

// x W^T + bias with W [out, in]; an empty bias is none.
Doubles double_linear(const Doubles& x, const Doubles& weight, const Doubles& bias, size_t in) {
  const size_t out = weight.size() / in;
  Doubles result;
  for (size_t row = 0; row < x.size(); row += in) {
    for (size_t o = 0; o < out; ++o) {
      double sum = bias.empty() ? 0 : bias[o];
      for (size_t i = 0; i < in; ++i) sum += x[row + i] * weight[o * in + i];
      result.push_back(sum);
    }
  }
  return result;
}

double gelu(double z) {
  return 0.5 * z * std::erfc(-z / std::numbers::sqrt2);
}

TEST(Linear, GeneralFormMatchesDoubleWithItsGradients) {
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{2, 3, 4}, Shape{1, 1}}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(to_string(shape));
      const int64_t in = shape.back(), out = 3 + static_cast<int64_t>(seed);
      const Tensor x = random_tensor(shape, seed), w = random_tensor({out, in}, seed + 10);
      const auto size = static_cast<size_t>(in);
      check_gradients(
          {.op = [](const auto& v) { return ops::linear(v[0], v[1], v[2]); },
           .reference = [size](const auto& v) { return double_linear(v[0], v[1], v[2], size); },
           .inputs = {x, w, random_tensor({out}, seed + 20)}},
          seed + 30);
      check_gradients(
          {.op = [](const auto& v) { return ops::linear(v[0], v[1]); },
           .reference = [size](const auto& v) { return double_linear(v[0], v[1], {}, size); },
           .inputs = {x, w}},
          seed + 30);
    }
  }
}

TEST(Linear, PackedFormMatchesDoubleWithItsGradients) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Activation activation : {Activation::kNone, Activation::kGelu}) {
      const int64_t in = 6, out = 5;
      const Tensor x = random_tensor({2, 3, in}, seed), w = random_tensor({out, in}, seed + 10);
      const Tensor bias = random_tensor({out}, seed + 20);
      const ops::Linear layer(w, bias);
      const auto reference = [&](const auto& v) {
        Doubles result = double_linear(v[0], to_doubles(w), to_doubles(bias), 6);
        for (size_t i = 0; i < result.size(); ++i) {
          if (activation == Activation::kGelu) result[i] = gelu(result[i]);
          if (v.size() > 1) result[i] += v[1][i];
        }
        return result;
      };
      check_gradients({.op = [&](const auto& v) { return layer(v[0], activation); },
                       .reference = reference,
                       .inputs = {x}},
                      seed + 30);
      check_gradients({.op = [&](const auto& v) { return layer(v[0], activation, v[1]); },
                       .reference = reference,
                       .inputs = {x, random_tensor({2, 3, out}, seed + 40)}},
                      seed + 30);
    }
  }
}

TEST(Linear, GradientThroughFixedWeightsUsesTheRoundedWeights) {
  const Tensor w = random_tensor({7, 9}, 1), x = random_tensor({4, 9}, 2);
  const ops::Linear layer(w, {}, DType::kI16);
  Tape tape;
  const Value value = tape.watch(x), out = layer(value);
  const Tensor seed = random_tensor({4, 7}, 3);
  const Tensor rounded = layer.weight().unpack();
  Doubles expected;
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t i = 0; i < 9; ++i) {
      double sum = 0;
      for (int64_t o = 0; o < 7; ++o) {
        sum += double{seed.matrix<float>()(r, o)} * double{rounded.matrix<float>()(o, i)};
      }
      expected.push_back(sum);
    }
  }
  EXPECT_TRUE(all_close(tape.gradient(out, seed, {value})[0], expected, 1e-5));
}

TEST(Linear, TakesGpt2LayoutAndHalfPrecisionBias) {
  const Tensor w = random_tensor({4, 6}, 1), x = random_tensor({3, 4}, 2);
  const Tensor bias = convert(random_tensor({6}, 3), DType::kF16);
  const ops::Linear layer(w, bias, DType::kF32, WeightLayout::kInOut);
  Doubles transposed(24);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t o = 0; o < 6; ++o) transposed[o * 4 + i] = w.values<float>()[i * 6 + o];
  }
  const Doubles expected =
      double_linear(to_doubles(x), transposed, to_doubles(convert(bias, DType::kF32)), 4);
  EXPECT_TRUE(all_close(layer(x).tensor, expected, 5e-6));
}

TEST(Linear, RefusesShapesThatDoNotFit) {
  const Value x = random_tensor({2, 4}, 1);
  EXPECT_THROW(ops::linear(x, random_tensor({3, 5}, 2)), Error);
  EXPECT_THROW(ops::linear(x, random_tensor({4}, 2)), Error);
  EXPECT_THROW(ops::linear(x, random_tensor({3, 4}, 2), random_tensor({4}, 3)), Error);
  EXPECT_THROW(ops::Linear(random_tensor({3, 4}, 2), random_tensor({4}, 3)), Error);
  const ops::Linear layer(random_tensor({3, 4}, 2));
  EXPECT_THROW(layer(random_tensor({2, 3}, 1)), Error);
  EXPECT_THROW(layer(x, Activation::kNone, random_tensor({2, 4}, 1)), Error);
  EXPECT_THROW(layer(Tensor(Shape{})), Error);
}

}  // namespace
}  // namespace fovea
