#include "fovea/kernels/panels.h"

#include <algorithm>
#include <vector>

namespace fovea {

Panels::Panels(int64_t columns, int64_t depth) : columns_(columns), depth_(depth) {
  const int64_t panels = (columns + kPanelWidth - 1) / kPanelWidth;
  auto storage = std::make_shared<Tensor>(Tensor::uninitialized(Shape{panels, depth, kPanelWidth}));
  float* data = storage->mutable_values<float>().data();
  data_ = std::shared_ptr<float>(std::move(storage), data);
}

Panels Panels::of_keys(const HeadsView& keys, int64_t head, KeyRange range) {
  Panels panels(range.end - range.begin, keys.dim);
  std::vector<float> key(static_cast<size_t>(keys.dim));
  const int64_t padded = (panels.columns_ + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  for (int64_t column = 0; column < padded; ++column) {
    if (column < panels.columns_) {
      keys.read_row(head, range.begin + column, 1, key.data());
    } else {
      std::fill(key.begin(), key.end(), 0.0F);
    }
    float* out =
        panels.data_.get() + column / kPanelWidth * keys.dim * kPanelWidth + column % kPanelWidth;
    for (int64_t c = 0; c < keys.dim; ++c) out[c * kPanelWidth] = key[static_cast<size_t>(c)];
  }
  return panels;
}

Panels Panels::of_values(const HeadsView& values, int64_t head, KeyRange range) {
  Panels panels(values.dim, range.end - range.begin);
  const int64_t padded = (values.dim + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  std::vector<float> value(static_cast<size_t>(padded), 0.0F);
  for (int64_t key = 0; key < panels.depth_; ++key) {
    values.read_row(head, range.begin + key, 1, value.data());
    for (int64_t column = 0; column < padded; column += kPanelWidth) {
      float* out = panels.data_.get() + (column / kPanelWidth * panels.depth_ + key) * kPanelWidth;
      std::copy_n(value.data() + column, kPanelWidth, out);
    }
  }
  return panels;
}

}  // namespace fovea
