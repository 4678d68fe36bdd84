#include "fovea/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "support/compare.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_floats;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double activation_reference(Activation activation, double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(u));
    case Activation::kQuickGelu:
      return x * sigmoid(1.702 * x);
    case Activation::kSilu:
      return x * sigmoid(x);
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
  }
  return 0;
}

constexpr Activation kAll[] = {Activation::kNone,      Activation::kRelu, Activation::kGelu,
                               Activation::kGeluTanh,  Activation::kSilu, Activation::kSigmoid,
                               Activation::kQuickGelu, Activation::kTanh};

TEST(Activation, EveryFunctionMatchesDoubleOverADenseSweep) {
  std::vector<float> x;
  for (int i = -120'000; i <= 120'000; ++i) x.push_back(static_cast<float>(i) * 1e-4f);
  for_each_simd_target([&] {
    for (const Activation activation : kAll) {
      SCOPED_TRACE(static_cast<int>(activation));
      std::vector<double> expected;
      for (const float at : x) expected.push_back(activation_reference(activation, at));
      std::vector<float> y(x.size());
      apply_activation(activation, x, y);
      // exp, erf and tanh are good to 1.2e-7; x multiplies that by up to 4 where it matters.
      EXPECT_TRUE(all_close(y, expected, 2e-7, 3e-7));
    }
  });
}

TEST(Activation, WorksForLengthsAroundTheVectorWidthAndInPlace) {
  for_each_simd_target([] {
    for (int64_t length = 1; length <= 70; ++length) {
      for (const Activation activation : kAll) {
        SCOPED_TRACE(length);
        std::vector<float> x = random_floats(length, static_cast<uint64_t>(length), 2);
        std::vector<double> expected;
        for (const float at : x) expected.push_back(activation_reference(activation, at));
        x.push_back(77.0f);  // must not be touched
        apply_activation(activation, std::span(x).first(static_cast<size_t>(length)),
                         std::span(x).first(static_cast<size_t>(length)));
        EXPECT_EQ(x.back(), 77.0f);
        x.pop_back();
        EXPECT_TRUE(all_close(x, expected, 2e-7, 3e-7));
      }
    }
  });
}

TEST(Activation, DerivativesMatchCentralDifferencesInDouble) {
  for_each_simd_target([] {
    for (const Activation activation : kAll) {
      SCOPED_TRACE(static_cast<int>(activation));
      std::vector<float> x = random_floats(1001, 17, 3);
      const std::vector<float> gradient = random_floats(1001, 18);
      std::vector<double> expected;
      constexpr double kStep = 1e-5;
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::abs(x[i]) < 1e-3f) x[i] = 0.5f;  // ReLU has a corner at 0
        const double at = x[i];
        const double slope = (activation_reference(activation, at + kStep) -
                              activation_reference(activation, at - kStep)) /
                             (2 * kStep);
        expected.push_back(double{gradient[i]} * slope);
      }
      std::vector<float> out(x.size());
      activation_gradient(activation, x, gradient, out);
      EXPECT_TRUE(all_close(out, expected, 2e-6));  // gradients up to 4, slopes good to 3e-7
    }
  });
}

TEST(Activation, NanStaysNanAndLargeArgumentsSaturate) {
  for_each_simd_target([] {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const Activation activation : kAll) {
      std::vector<float> x{nan, 1e30f, -1e30f};
      apply_activation(activation, x, x);
      EXPECT_TRUE(std::isnan(x[0])) << static_cast<int>(activation);
      EXPECT_EQ(x[1], activation == Activation::kSigmoid || activation == Activation::kTanh
                          ? 1.0f
                          : 1e30f);
      if (activation == Activation::kNone) continue;
      EXPECT_EQ(x[2], activation == Activation::kTanh ? -1.0f : 0.0f);
    }
  });
}

}  // namespace
}  // namespace fovea
