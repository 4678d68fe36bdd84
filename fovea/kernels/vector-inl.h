// Loops over float arrays of any length, for every SIMD target: whole vectors first, then one
// partial vector that goes through a buffer, so that nothing outside the array is read or written.

// NOLINTNEXTLINE: the guard must flip with the target, so #pragma once cannot serve.
#if defined(FOVEA_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_VECTOR_INL_H_
#undef FOVEA_KERNELS_VECTOR_INL_H_
#else
#define FOVEA_KERNELS_VECTOR_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<FloatTag>;
inline constexpr int64_t kFloatLanes = static_cast<int64_t>(hn::MaxLanes(FloatTag()));

// The first `count` < kFloatLanes floats; the other lanes hold `filler`.
HWY_INLINE FloatVector load_part(const float* from, int64_t count, float filler) {
  const FloatTag d;
  HWY_ALIGN float buffer[kFloatLanes];
  hn::Store(hn::Set(d, filler), d, buffer);
  std::memcpy(buffer, from, static_cast<size_t>(count) * sizeof(float));
  return hn::Load(d, buffer);
}

HWY_INLINE void store_part(FloatVector v, float* to, int64_t count) {
  const FloatTag d;
  HWY_ALIGN float buffer[kFloatLanes];
  hn::Store(v, d, buffer);
  std::memcpy(to, buffer, static_cast<size_t>(count) * sizeof(float));
}

// to[i] = f(a[i], ...). `to` may be one of the inputs. Lanes beyond the end are computed from zeros
// and dropped.
template <class F, class... Inputs>
HWY_INLINE void map_floats(float* to, int64_t count, const F& f, const Inputs*... inputs) {
  const FloatTag d;
  int64_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    hn::StoreU(f(hn::LoadU(d, inputs + i)...), d, to + i);
  }
  if (i < count) store_part(f(load_part(inputs + i, count - i, 0.0f)...), to + i, count - i);
}

// How many elements are summed in float before the sum moves on to double: rounding then does not
// grow with the length of a row.
inline constexpr int64_t kSumBlock = 1024;

// Sum over i of f(a[i], ...); f must give 0 for zeros.
template <class F, class... Inputs>
HWY_INLINE double sum_floats(int64_t count, const F& f, const Inputs*... inputs) {
  const FloatTag d;
  double total = 0;
  for (int64_t block = 0; block < count; block += kSumBlock) {
    const int64_t end = HWY_MIN(count, block + kSumBlock);
    FloatVector sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    int64_t i = block;
    for (; i + 4 * kFloatLanes <= end; i += 4 * kFloatLanes) {
      sum0 = hn::Add(sum0, f(hn::LoadU(d, inputs + i)...));
      sum1 = hn::Add(sum1, f(hn::LoadU(d, inputs + i + kFloatLanes)...));
      sum2 = hn::Add(sum2, f(hn::LoadU(d, inputs + i + 2 * kFloatLanes)...));
      sum3 = hn::Add(sum3, f(hn::LoadU(d, inputs + i + 3 * kFloatLanes)...));
    }
    for (; i + kFloatLanes <= end; i += kFloatLanes) {
      sum0 = hn::Add(sum0, f(hn::LoadU(d, inputs + i)...));
    }
    if (i < end) sum1 = hn::Add(sum1, f(load_part(inputs + i, end - i, 0.0f)...));
    const FloatVector sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    total += double{hn::GetLane(hn::SumOfLanes(d, sum))};
  }
  return total;
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNELS_VECTOR_INL_H_
