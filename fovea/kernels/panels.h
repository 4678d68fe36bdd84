// Keys and values rearranged once so that the inner loops of attention read memory in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/kernels/heads_view.h"

namespace fovea {

// A panel is 32 columns wide on every CPU: two AVX-512 vectors, four AVX2 ones.
inline constexpr int64_t kPanelWidth = 32;
inline constexpr int64_t kMostFixedKeys = 512;

// F32 is [panel][depth][32]: column c of the matrix is column c % 32 of panel c / 32. I16 is
// [panel][(depth + 1) / 2][32][2]: two neighbours in depth stand beside each other, as the
// instruction for them reads them (dot16.h). What fills up the last panel and the last pair is
// zero.
class Panels {
 public:
  Panels() = default;

  // Columns are the keys of `range`, depth is the head size. F32, or I16: all in one unit.
  static Panels of_keys(const HeadsView& keys, int64_t head, KeyRange range,
                        DType dtype = DType::kF32);
  // Columns are the value features, depth is the keys of `range`. F32, or I16: a unit for
  // each column, such that sums over any kMostFixedKeys keys one after the other fit.
  static Panels of_values(const HeadsView& values, int64_t head, KeyRange range,
                          DType dtype = DType::kF32);

  DType dtype() const { return dtype_; }
  int64_t columns() const { return columns_; }
  int64_t depth() const { return depth_; }
  // Words of a column: its depth, or the pairs in it.
  int64_t steps() const { return dtype_ == DType::kF32 ? depth_ : (depth_ + 1) / 2; }
  // Of F32.
  const float* panel(int64_t index) const {
    return reinterpret_cast<const float*>(data_.get()) + index * steps() * kPanelWidth;
  }
  // Of I16: what the integers of a panel's columns are counted in (fixed_point.h).
  const float* units(int64_t index) const { return units_->data() + index * kPanelWidth; }
  // Of I16: a pair is one word, its first number in the low half.
  const uint32_t* pairs(int64_t index) const {
    return reinterpret_cast<const uint32_t*>(data_.get()) + index * steps() * kPanelWidth;
  }

 private:
  Panels(int64_t columns, int64_t depth, DType dtype);

  int64_t columns_ = 0;
  int64_t depth_ = 0;
  DType dtype_ = DType::kF32;
  std::shared_ptr<std::byte> data_;
  std::shared_ptr<std::vector<float>> units_;
};

}  // namespace fovea
