#include "fovea/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/kernels/parallel_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/softmax.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                        // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

float max_of(const float* row, int64_t count) {
  const FloatTag d;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  FloatVector max0 = hn::Set(d, kLowest), max1 = max0;
  int64_t i = 0;
  for (; i + 2 * kFloatLanes <= count; i += 2 * kFloatLanes) {
    max0 = hn::Max(max0, hn::LoadU(d, row + i));
    max1 = hn::Max(max1, hn::LoadU(d, row + i + kFloatLanes));
  }
  for (; i + kFloatLanes <= count; i += kFloatLanes) max0 = hn::Max(max0, hn::LoadU(d, row + i));
  if (i < count) max1 = hn::Max(max1, load_part(row + i, count - i, kLowest));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(max0, max1)));
}

// to <- exp(row - max); returns the sum of it.
float exp_minus_max(const float* row, float max, float* to, int64_t count) {
  const FloatTag d;
  const FloatVector shift = hn::Set(d, max);
  FloatVector sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    const FloatVector e = exp_f32(d, hn::Sub(hn::LoadU(d, row + i), shift));
    hn::StoreU(e, d, to + i);
    sum = hn::Add(sum, e);
  }
  if (i < count) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();  // adds 0 to the sum
    const FloatVector e = exp_f32(d, hn::Sub(load_part(row + i, count - i, kMasked), shift));
    store_part(e, to + i, count - i);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void softmax_block(MatrixView<const float> scores, MatrixView<float> weights, float* lse) {
  for (int64_t r = 0; r < scores.rows; ++r) {
    const float* row = scores.row(r);
    float* to = weights.row(r);
    const float max = max_of(row, scores.cols);
    if (max == -std::numeric_limits<float>::infinity()) {
      // Comparisons pass over NaN, so only here could one hide.
      const bool has_nan =
          std::any_of(row, row + scores.cols, [](float score) { return std::isnan(score); });
      const float fill = has_nan ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
      std::fill(to, to + scores.cols, fill);
      if (lse != nullptr) lse[r] = fill;
      continue;
    }
    double sum = 0;
    for (int64_t c = 0; c < scores.cols; c += kSumBlock) {
      sum += double{exp_minus_max(row + c, max, to + c, std::min(kSumBlock, scores.cols - c))};
    }
    const FloatTag d;
    const FloatVector factor = hn::Set(d, static_cast<float>(1 / sum));
    map_floats(
        to, scores.cols, [factor](FloatVector e) HWY_ATTR { return hn::Mul(e, factor); }, to);
    if (lse != nullptr) lse[r] = static_cast<float>(max + std::log(sum));
  }
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(softmax_block);
}  // namespace

void softmax_rows(MatrixView<const float> scores, MatrixView<float> weights, std::span<float> lse) {
  FOVEA_ASSERT(weights.rows == scores.rows && weights.cols == scores.cols);
  FOVEA_ASSERT(lse.empty() || static_cast<int64_t>(lse.size()) == scores.rows);
  const auto kernel = HWY_DYNAMIC_DISPATCH(softmax_block);
  parallel_rows(scores.rows, scores.cols, [&](int64_t begin, int64_t end) {
    kernel(scores.block(begin, 0, end - begin, scores.cols),
           weights.block(begin, 0, end - begin, scores.cols),
           lse.empty() ? nullptr : lse.data() + begin);
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
