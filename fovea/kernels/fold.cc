#include "fovea/kernels/fold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/fold.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                     // IWYU pragma: keep

#include "fovea/kernels/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {

// A column's running value stays in a register while its rows go by.
void fold_weighted(const MatrixView<const float>& block, const float* weights, float* sums) {
  const FloatTag d;
  int64_t c = 0;
  for (; c + kFloatLanes <= block.cols; c += kFloatLanes) {
    FloatVector sum = hn::LoadU(d, sums + c);
    for (int64_t r = 0; r < block.rows; ++r) {
      sum =
          hn::MulAdd(hn::Set(d, weights[r]), hn::LoadU(d, block.data + r * block.stride + c), sum);
    }
    hn::StoreU(sum, d, sums + c);
  }
  for (; c < block.cols; ++c) {
    for (int64_t r = 0; r < block.rows; ++r)
      sums[c] += weights[r] * block.data[r * block.stride + c];
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(fold_weighted);

void fold_weighted(MatrixView<const float> block, std::span<const float> weights,
                   std::span<float> sums) {
  FOVEA_ASSERT(static_cast<int64_t>(weights.size()) == block.rows);
  FOVEA_ASSERT(static_cast<int64_t>(sums.size()) == block.cols);
  HWY_DYNAMIC_DISPATCH(fold_weighted)(block, weights.data(), sums.data());
}

}  // namespace fovea
#endif  // HWY_ONCE
