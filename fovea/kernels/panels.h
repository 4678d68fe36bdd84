// Keys and values rearranged once so that the inner loops of attention read memory in order.
#pragma once

#include <cstdint>
#include <memory>

#include "fovea/attention/score_rule.h"
#include "fovea/kernels/heads_view.h"

namespace fovea {

// A panel is 32 columns wide on every CPU: two AVX-512 vectors, four AVX2 ones.
inline constexpr int64_t kPanelWidth = 32;

// f32 [panel][depth][32]: column c of the matrix is column c % 32 of panel c / 32. The columns that
// fill up the last panel are zero.
class Panels {
 public:
  Panels() = default;

  // Columns are the keys of `range`, depth is the head size.
  static Panels of_keys(const HeadsView& keys, int64_t head, KeyRange range);
  // Columns are the value features, depth is the keys of `range`.
  static Panels of_values(const HeadsView& values, int64_t head, KeyRange range);

  int64_t columns() const { return columns_; }
  int64_t depth() const { return depth_; }
  const float* panel(int64_t index) const { return data_.get() + index * depth_ * kPanelWidth; }

 private:
  Panels(int64_t columns, int64_t depth);
  int64_t columns_ = 0;
  int64_t depth_ = 0;
  std::shared_ptr<float> data_;
};

}  // namespace fovea
