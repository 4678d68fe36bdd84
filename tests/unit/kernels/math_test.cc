// Sweeps the vector functions of math-inl.h against double on every SIMD target.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "support/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "unit/kernels/math_test.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                         // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

void exp_all(const float* x, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector v) HWY_ATTR { return exp_f32(FloatTag(), v); }, x);
}
void exp_weight_all(const float* x, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector v) HWY_ATTR { return exp_weight_f32(FloatTag(), v); }, x);
}
void erf_all(const float* x, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector v) HWY_ATTR { return erf_f32(FloatTag(), v); }, x);
}
void tanh_all(const float* x, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector v) HWY_ATTR { return tanh_f32(FloatTag(), v); }, x);
}
void sigmoid_all(const float* x, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector v) HWY_ATTR { return sigmoid_f32(FloatTag(), v); }, x);
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(exp_all);
HWY_EXPORT(exp_weight_all);
HWY_EXPORT(erf_all);
HWY_EXPORT(tanh_all);
HWY_EXPORT(sigmoid_all);

using Function = void (*)(const float*, float*, int64_t);
constexpr float kMathInfinity = std::numeric_limits<float>::infinity();

// Evenly spaced numbers, then numbers of both signs at every power of two down to the smallest.
std::vector<float> sweep(float low, float high) {
  std::vector<float> x;
  constexpr int kSteps = 200'000;
  for (int i = 0; i <= kSteps; ++i) {
    x.push_back(low + (high - low) * static_cast<float>(i) / static_cast<float>(kSteps));
  }
  for (float magnitude = 1e-38f; magnitude < 1.0f; magnitude *= 1.07f) {
    x.push_back(magnitude);
    x.push_back(-magnitude);
  }
  return x;
}

std::vector<float> evaluate(Function function, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  function(x.data(), y.data(), static_cast<int64_t>(x.size()));
  return y;
}

// Distance from the smaller of the two floats around `expected` to the next.
double ulp(double expected) {
  const auto rounded = static_cast<float>(std::abs(expected));
  return double{std::nextafter(rounded, kMathInfinity)} - double{rounded};
}

struct Worst {
  double value = 0;
  float at = 0;
};

template <typename Error>
Worst worst_error(Function function, const std::vector<float>& x, const Error& error) {
  const std::vector<float> y = evaluate(function, x);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const double size = error(double{x[i]}, double{y[i]});
    if (!(size <= worst.value)) worst = {size, x[i]};
  }
  return worst;
}

TEST(Math, ExpIsWithinOneAndAHalfUlp) {
  support::for_each_simd_target([] {
    const Worst worst = worst_error(
        HWY_DYNAMIC_DISPATCH(exp_all), sweep(-87.3f, 88.3f),
        [](double x, double y) { return std::abs(y - std::exp(x)) / ulp(std::exp(x)); });
    EXPECT_LE(worst.value, 1.5) << "at " << worst.at;
  });
}

TEST(Math, ExpHasExactEnds) {
  support::for_each_simd_target([] {
    const std::vector<float> x{-kMathInfinity, -1e30f, -1000.0f, -87.34f, 0.0f,
                               -0.0f,          88.7f,  1000.0f,  3e38f,   kMathInfinity};
    const std::vector<float> y = evaluate(HWY_DYNAMIC_DISPATCH(exp_all), x);
    const std::vector<float> expected{
        0, 0, 0, 0, 1, 1, kMathInfinity, kMathInfinity, kMathInfinity, kMathInfinity};
    EXPECT_EQ(y, expected);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(evaluate(HWY_DYNAMIC_DISPATCH(exp_all), {nan})[0]));
  });
}

TEST(Math, ExpOfWeightsIsExactNearZeroAndAtItsEnds) {
  support::for_each_simd_target([] {
    // As math-inl.h says; the product that reduces the range is where |x| comes in.
    const Worst worst = worst_error(
        HWY_DYNAMIC_DISPATCH(exp_weight_all), sweep(-87.2f, 0),
        [](double x, double y) { return std::abs(y / std::exp(x) - 1) / (2 + std::abs(x)); });
    EXPECT_LE(worst.value, 1e-7) << "at " << worst.at;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> y =
        evaluate(HWY_DYNAMIC_DISPATCH(exp_weight_all),
                 {-kMathInfinity, -1e30f, -1000.0f, -87.31f, 0.0f, -0.0f, nan});
    EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1), (std::vector<float>{0, 0, 0, 0, 1, 1}));
    EXPECT_TRUE(std::isnan(y.back()));
  });
}

TEST(Math, ErfIsWithin2e7AndRelativeNearZero) {
  support::for_each_simd_target([] {
    const std::vector<float> x = sweep(-6, 6);
    const Worst absolute = worst_error(HWY_DYNAMIC_DISPATCH(erf_all), x, [](double at, double y) {
      return std::abs(y - std::erf(at));
    });
    EXPECT_LE(absolute.value, 1.2e-7) << "at " << absolute.at;
    const Worst relative = worst_error(HWY_DYNAMIC_DISPATCH(erf_all), x, [](double at, double y) {
      return at == 0 ? std::abs(y) : std::abs(y / std::erf(at) - 1);
    });
    EXPECT_LE(relative.value, 1.5e-7) << "at " << relative.at;
    EXPECT_EQ(evaluate(HWY_DYNAMIC_DISPATCH(erf_all), {-kMathInfinity, kMathInfinity}),
              (std::vector<float>{-1, 1}));
  });
}

TEST(Math, TanhHasSmallRelativeErrorEverywhere) {
  support::for_each_simd_target([] {
    const Worst worst = worst_error(
        HWY_DYNAMIC_DISPATCH(tanh_all), sweep(-12, 12),
        [](double x, double y) { return x == 0 ? std::abs(y) : std::abs(y / std::tanh(x) - 1); });
    EXPECT_LE(worst.value, 1.5e-7) << "at " << worst.at;
    EXPECT_EQ(
        evaluate(HWY_DYNAMIC_DISPATCH(tanh_all), {-kMathInfinity, -50.0f, 50.0f, kMathInfinity}),
        (std::vector<float>{-1, -1, 1, 1}));
  });
}

TEST(Math, SigmoidHasSmallRelativeErrorOnBothSides) {
  support::for_each_simd_target([] {
    const Worst worst =
        worst_error(HWY_DYNAMIC_DISPATCH(sigmoid_all), sweep(-85, 85),
                    [](double x, double y) { return std::abs(y * (1 + std::exp(-x)) - 1); });
    EXPECT_LE(worst.value, 2.5e-7) << "at " << worst.at;
    EXPECT_EQ(evaluate(HWY_DYNAMIC_DISPATCH(sigmoid_all), {-kMathInfinity, kMathInfinity}),
              (std::vector<float>{0, 1}));
  });
}

TEST(SimdTargets, EachCanBeChosenAndTheBestComesBack) {
  const std::vector<std::string> targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  for (const std::string& target : targets) {
    use_simd_target(target);
    EXPECT_EQ(active_simd_target(), target);
  }
  use_simd_target("");
  EXPECT_EQ(active_simd_target(), targets.front());
  EXPECT_EQ(simd_targets(), targets);
}

TEST(SimdTargets, UnknownNameIsRefused) {
  EXPECT_THROW(use_simd_target("AVX9000"), Error);
  EXPECT_EQ(active_simd_target(), simd_targets().front());
}

}  // namespace
}  // namespace fovea
#endif  // HWY_ONCE
