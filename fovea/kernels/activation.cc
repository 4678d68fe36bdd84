#include "fovea/kernels/activation.h"

#include <cstdint>

#include "fovea/base/error.h"
#include "fovea/kernels/parallel_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/activation.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                           // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// Each struct has the function and its derivative.

struct Relu {
  HWY_INLINE FloatVector value(FloatVector x) const {
    // Not Max(x, 0): that would turn NaN into 0 on some targets.
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  }
  HWY_INLINE FloatVector derivative(FloatVector x) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
  FloatTag d;
};

struct Gelu {
  HWY_INLINE FloatVector normal_cdf(FloatVector x) const {
    const FloatVector half = hn::Set(d, 0.5f);
    return hn::MulAdd(half, erf_f32(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half);
  }
  HWY_INLINE FloatVector value(FloatVector x) const { return hn::Mul(x, normal_cdf(x)); }
  // Phi(x) + x phi(x)
  HWY_INLINE FloatVector derivative(FloatVector x) const {
    const FloatVector bell = exp_f32(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
    return hn::MulAdd(hn::Mul(x, hn::Set(d, 0.39894228f)), bell, normal_cdf(x));
  }
  FloatTag d;
};

// 0.5 x (1 + tanh u) = x sigmoid(2u), u = sqrt(2 / pi) (x + 0.044715 x^3): no cancellation for x <
// 0.
struct GeluTanh {
  static constexpr float kTwiceRoot = 1.59576912f;  // 2 sqrt(2 / pi)
  HWY_INLINE FloatVector twice_u(FloatVector x) const {
    const FloatVector cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f), hn::Set(d, 1.0f));
    return hn::Mul(hn::Mul(x, hn::Set(d, kTwiceRoot)), cubic);
  }
  HWY_INLINE FloatVector value(FloatVector x) const {
    return hn::Mul(x, sigmoid_f32(d, twice_u(x)));
  }
  HWY_INLINE FloatVector derivative(FloatVector x) const {
    const FloatVector v = twice_u(x);
    const FloatVector change =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * 0.044715f * kTwiceRoot), hn::Set(d, kTwiceRoot));
    return hn::MulAdd(hn::Mul(x, change), sigmoid_slope_f32(d, v), sigmoid_f32(d, v));
  }
  FloatTag d;
};

// x sigmoid(beta x)
struct Swish {
  HWY_INLINE FloatVector value(FloatVector x) const {
    return hn::Mul(x, sigmoid_f32(d, hn::Mul(x, hn::Set(d, beta))));
  }
  HWY_INLINE FloatVector derivative(FloatVector x) const {
    const FloatVector scaled = hn::Mul(x, hn::Set(d, beta));
    return hn::MulAdd(scaled, sigmoid_slope_f32(d, scaled), sigmoid_f32(d, scaled));
  }
  float beta;
  FloatTag d;
};

struct Sigmoid {
  HWY_INLINE FloatVector value(FloatVector x) const { return sigmoid_f32(d, x); }
  HWY_INLINE FloatVector derivative(FloatVector x) const { return sigmoid_slope_f32(d, x); }
  FloatTag d;
};

struct Tanh {
  HWY_INLINE FloatVector value(FloatVector x) const { return tanh_f32(d, x); }
  HWY_INLINE FloatVector derivative(FloatVector x) const {
    const FloatVector t = tanh_f32(d, x);
    return hn::NegMulAdd(t, t, hn::Set(d, 1.0f));
  }
  FloatTag d;
};

struct Identity {
  HWY_INLINE FloatVector value(FloatVector x) const { return x; }
  HWY_INLINE FloatVector derivative(FloatVector) const { return hn::Set(d, 1.0f); }
  FloatTag d;
};

template <class Visitor>
void visit_activation(Activation activation, const Visitor& visitor) {
  switch (activation) {
    case Activation::kNone:
      return visitor(Identity{});
    case Activation::kRelu:
      return visitor(Relu{});
    case Activation::kGelu:
      return visitor(Gelu{});
    case Activation::kGeluTanh:
      return visitor(GeluTanh{});
    case Activation::kQuickGelu:
      return visitor(Swish{.beta = 1.702f});
    case Activation::kSilu:
      return visitor(Swish{.beta = 1.0f});
    case Activation::kSigmoid:
      return visitor(Sigmoid{});
    case Activation::kTanh:
      return visitor(Tanh{});
  }
}

void activation_range(Activation activation, const float* x, float* out, int64_t count) {
  visit_activation(activation, [=](auto f) HWY_ATTR {
    map_floats(
        out, count, [f](FloatVector v) HWY_ATTR { return f.value(v); }, x);
  });
}

void activation_gradient_range(Activation activation, const float* x, const float* gradient,
                               float* out, int64_t count) {
  visit_activation(activation, [=](auto f) HWY_ATTR {
    map_floats(
        out, count,
        [f](FloatVector v, FloatVector g) HWY_ATTR { return hn::Mul(g, f.derivative(v)); }, x,
        gradient);
  });
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(activation_range);
HWY_EXPORT(activation_gradient_range);
}  // namespace

void apply_activation(Activation activation, std::span<const float> x, std::span<float> out) {
  FOVEA_ASSERT(x.size() == out.size());
  const auto kernel = HWY_DYNAMIC_DISPATCH(activation_range);
  parallel_rows(static_cast<int64_t>(x.size()), 1, [&](int64_t begin, int64_t end) {
    kernel(activation, x.data() + begin, out.data() + begin, end - begin);
  });
}

void activation_gradient(Activation activation, std::span<const float> x,
                         std::span<const float> gradient, std::span<float> out) {
  FOVEA_ASSERT(x.size() == out.size() && x.size() == gradient.size());
  const auto kernel = HWY_DYNAMIC_DISPATCH(activation_gradient_range);
  parallel_rows(static_cast<int64_t>(x.size()), 1, [&](int64_t begin, int64_t end) {
    kernel(activation, x.data() + begin, gradient.data() + begin, out.data() + begin, end - begin);
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
