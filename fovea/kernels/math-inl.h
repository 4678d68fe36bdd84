// exp, erf, tanh and the logistic function on vectors of floats, for every SIMD target. The
// polynomials are minimax fits made for this file; tests sweep each function against double.
// Included once per target from kernels that use foreach_target.h.

// NOLINTNEXTLINE: the guard must flip with the target, so #pragma once cannot serve.
#if defined(FOVEA_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_MATH_INL_H_
#undef FOVEA_KERNELS_MATH_INL_H_
#else
#define FOVEA_KERNELS_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^x within 1.5 ulp. Exactly 0 below -87.33 (so also for -infinity), +infinity above 88.37, NaN
// for NaN; results are never denormal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_f32(D d, V x) {
  const hn::RebindToSigned<D> di;
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 leaves the integer n in the low bits. The
  // high part of ln 2 has 15 bits, so that n times it is exact even without fused multiply-add.
  const V magic = hn::Set(d, 12582912.0f);
  const V bounded = hn::IfThenElse(hn::Gt(x, hn::Set(d, 89.0f)), hn::Set(d, 89.0f), x);
  const V shifted = hn::MulAdd(bounded, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), bounded);
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860682e-6f), r);
  // e^r = 1 + (r + r^2 q(r))
  V q = hn::Set(d, 1.3820742e-3f);
  q = hn::MulAdd(q, r, hn::Set(d, 8.369248e-3f));
  q = hn::MulAdd(q, r, hn::Set(d, 4.166828e-2f));
  q = hn::MulAdd(q, r, hn::Set(d, 1.6666517e-1f));
  q = hn::MulAdd(q, r, hn::Set(d, 4.9999994e-1f));
  const V p = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, 1.0f));
  // 2^n, as a factor rather than added to the exponent bits: NaN stays NaN, n = 128 gives infinity.
  const auto exponent = hn::Add(hn::BitCast(di, shifted), hn::Set(di, 127));
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, -87.33f)), hn::Zero(d), hn::Mul(p, power));
}

// e^x for x <= 0, as a softmax needs it: half the work of exp_f32. The error is at most
// (2 + |x|) * 1e-7 of the result, so it is largest where the weight is small; e^0 is exactly 1.
// Exactly 0 below -87.3, so also for -infinity; NaN for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_weight_f32(D d, V x) {
  const hn::RebindToSigned<D> di;
  // x = (n + r) ln 2, |r| <= 1/2. One product gives r: its error grows with |x|, as e^x shrinks.
  const V magic = hn::Set(d, 12582912.0f);
  const V per_octave = hn::Set(d, 1.44269504f);
  const V shifted = hn::MulAdd(x, per_octave, magic);
  const V r = hn::MulSub(x, per_octave, hn::Sub(shifted, magic));
  V p = hn::Set(d, 1.3269571e-3f);
  p = hn::MulAdd(p, r, hn::Set(d, 9.6712941e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.5507109e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 2.4022247e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 6.93147e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  // 2^r times 2^n: n joins the exponent bits.
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const V product = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3f)), product);
}

// 1 / (1 + e^-x), relative error about 2e-7 on both sides.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_f32(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp_f32(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// The derivative of the logistic function: s (1 - s), without the cancellation in 1 - s.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_slope_f32(D d, V x) {
  const V e = exp_f32(d, hn::Neg(hn::Abs(x)));
  const V sum = hn::Add(hn::Set(d, 1.0f), e);
  return hn::Div(e, hn::Mul(sum, sum));
}

// tanh(x), relative error about 1e-7 also near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_f32(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V magnitude = hn::Abs(x);
  const V square = hn::Mul(x, x);
  V q = hn::Set(d, -5.6962534e-3f);
  q = hn::MulAdd(q, square, hn::Set(d, 2.0630863e-2f));
  q = hn::MulAdd(q, square, hn::Set(d, -5.373706e-2f));
  q = hn::MulAdd(q, square, hn::Set(d, 1.3331409e-1f));
  q = hn::MulAdd(q, square, hn::Set(d, -3.333328e-1f));
  const V small = hn::MulAdd(hn::Mul(square, x), q, x);
  const V e = exp_f32(d, hn::Add(magnitude, magnitude));
  const V large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, hn::CopySign(large, x));
}

// erf(x), absolute error below 1.2e-7 and relative error about 1e-7 near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf_f32(D d, V x) {
  // |x| < 0.9: erf(x) = x + x q(x^2)
  const V square = hn::Mul(x, x);
  V q = hn::Set(d, 7.9431e-5f);
  q = hn::MulAdd(q, square, hn::Set(d, -8.039753e-4f));
  q = hn::MulAdd(q, square, hn::Set(d, 5.191753e-3f));
  q = hn::MulAdd(q, square, hn::Set(d, -2.685556e-2f));
  q = hn::MulAdd(q, square, hn::Set(d, 1.1283624e-1f));
  q = hn::MulAdd(q, square, hn::Set(d, -3.761263e-1f));
  q = hn::MulAdd(q, square, hn::Set(d, 1.2837917e-1f));
  const V small = hn::MulAdd(x, q, x);
  // |x| >= 0.9: erf(x) = 1 - exp(-p(|x|)) with p = -log erfc; from 4 on the result rounds to 1.
  const V four = hn::Set(d, 4.0f);
  const V magnitude = hn::Abs(x);
  const V a = hn::IfThenElse(hn::Gt(magnitude, four), four, magnitude);
  V p = hn::Set(d, 2.090589e-5f);
  p = hn::MulAdd(p, a, hn::Set(d, -4.3227145e-4f));
  p = hn::MulAdd(p, a, hn::Set(d, 4.160418e-3f));
  p = hn::MulAdd(p, a, hn::Set(d, -2.5091305e-2f));
  p = hn::MulAdd(p, a, hn::Set(d, 1.0823644e-1f));
  p = hn::MulAdd(p, a, hn::Set(d, 6.3338673e-1f));
  p = hn::MulAdd(p, a, hn::Set(d, 1.1294951f));
  p = hn::MulAdd(p, a, hn::Set(d, -1.7055213e-4f));
  const V large = hn::Sub(hn::Set(d, 1.0f), exp_f32(d, hn::Neg(p)));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.9f)), small, hn::CopySign(large, x));
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNELS_MATH_INL_H_
