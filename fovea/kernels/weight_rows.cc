#include "fovea/kernels/weight_rows.h"

#include "fovea/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/weight_rows.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                            // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// How many vectors are summed in float before the sum moves on to double.
constexpr int64_t kVectorsInFloat = 256;

class CellAdder {
 public:
  HWY_INLINE CellAdder() : weight_(hn::Zero(FloatTag())), distance_(weight_), marked_(weight_) {}

  HWY_INLINE void add(FloatVector weight, FloatVector distance, FloatVector marked,
                      CellSums& sums) {
    weight_ = hn::Add(weight_, weight);
    distance_ = hn::MulAdd(weight, distance, distance_);
    marked_ = hn::MulAdd(weight, marked, marked_);
    if (++count_ == kVectorsInFloat) flush(sums);
  }

  HWY_INLINE void flush(CellSums& sums) {
    const FloatTag d;
    sums.weight += double{hn::GetLane(hn::SumOfLanes(d, weight_))};
    sums.distance += double{hn::GetLane(hn::SumOfLanes(d, distance_))};
    sums.marked += double{hn::GetLane(hn::SumOfLanes(d, marked_))};
    weight_ = distance_ = marked_ = hn::Zero(d);
    count_ = 0;
  }

 private:
  FloatVector weight_, distance_, marked_;
  int64_t count_ = 0;
};

int64_t place_of(const float* row, int64_t count, float largest) {
  const FloatTag d;
  const FloatVector wanted = hn::Set(d, largest);
  int64_t c = 0;
  for (; c + kFloatLanes <= count; c += kFloatLanes) {
    const intptr_t found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, row + c), wanted));
    if (found >= 0) return c + found;
  }
  while (c + 1 < count && row[c] != largest) ++c;
  return c;
}

void summarize(MatrixView<const float> weights, int64_t row, const float* plain,
               const float* marked, RowPeak* peaks, CellSums& sums) {
  const FloatTag d;
  CellAdder cells;
  for (int64_t r = 0; r < weights.rows; ++r) {
    const float* from = weights.row(r);
    const FloatVector own = hn::Set(d, static_cast<float>(row + r));
    FloatVector largest = hn::Zero(d), largest_plain = largest;
    const auto take = [&](int64_t c, FloatVector weight, FloatVector is_plain,
                          FloatVector is_marked) HWY_ATTR {
      largest = hn::Max(largest, weight);
      largest_plain = hn::Max(largest_plain, hn::Mul(weight, is_plain));
      const FloatVector column = hn::Iota(d, static_cast<float>(c));
      cells.add(weight, hn::Abs(hn::Sub(column, own)), is_marked, sums);
    };
    int64_t c = 0;
    for (; c + kFloatLanes <= weights.cols; c += kFloatLanes) {
      take(c, hn::LoadU(d, from + c), hn::LoadU(d, plain + c), hn::LoadU(d, marked + c));
    }
    if (const int64_t left = weights.cols - c; left > 0) {
      take(c, load_part(from + c, left, 0), load_part(plain + c, left, 0),
           load_part(marked + c, left, 0));
    }
    RowPeak& peak = peaks[r];
    peak.largest = hn::GetLane(hn::MaxOfLanes(d, largest));
    peak.largest_plain = hn::GetLane(hn::MaxOfLanes(d, largest_plain));
    peak.place = place_of(from, weights.cols, peak.largest);
  }
  cells.flush(sums);
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(summarize);
}  // namespace

void summarize_rows(MatrixView<const float> weights, int64_t row, std::span<const float> plain,
                    std::span<const float> marked, std::span<RowPeak> peaks, CellSums& sums) {
  FOVEA_ASSERT(static_cast<int64_t>(plain.size()) == weights.cols);
  FOVEA_ASSERT(static_cast<int64_t>(marked.size()) == weights.cols);
  FOVEA_ASSERT(static_cast<int64_t>(peaks.size()) == weights.rows);
  HWY_DYNAMIC_DISPATCH(summarize)
  (weights, row, plain.data(), marked.data(), peaks.data(), sums);
}

}  // namespace fovea
#endif  // HWY_ONCE
