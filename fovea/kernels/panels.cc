#include "fovea/kernels/panels.h"

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

int64_t padded(int64_t columns) {
  return (columns + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
}

uint32_t pair_of(BF16 first, BF16 second) {
  return uint32_t{first.bits} | uint32_t{second.bits} << 16;
}

// Fills panels column by column: read(column, words) writes the `steps` words of one.
template <typename Word, typename Read>
void fill_columns(Word* data, int64_t columns, int64_t steps, const Read& read) {
  std::vector<Word> words(static_cast<size_t>(steps));
  for (int64_t column = 0; column < padded(columns); ++column) {
    if (column < columns) {
      read(column, words.data());
    } else {
      std::fill(words.begin(), words.end(), Word{0});
    }
    Word* out = data + column / kPanelWidth * steps * kPanelWidth + column % kPanelWidth;
    for (int64_t step = 0; step < steps; ++step) {
      out[step * kPanelWidth] = words[static_cast<size_t>(step)];
    }
  }
}

// Fills panels step by step: read(step, words) writes the words of all columns at one.
template <typename Word, typename Read>
void fill_steps(Word* data, int64_t columns, int64_t steps, const Read& read) {
  std::vector<Word> words(static_cast<size_t>(padded(columns)), Word{0});
  for (int64_t step = 0; step < steps; ++step) {
    read(step, words.data());
    for (int64_t column = 0; column < padded(columns); column += kPanelWidth) {
      std::copy_n(words.data() + column, kPanelWidth,
                  data + (column / kPanelWidth * steps + step) * kPanelWidth);
    }
  }
}

}  // namespace

Panels::Panels(int64_t columns, int64_t depth, DType dtype)
    : columns_(columns), depth_(depth), dtype_(dtype) {
  auto storage = std::make_shared<Tensor>(Tensor::uninitialized(
      Shape{padded(columns), steps()}, dtype == DType::kBF16 ? DType::kU32 : DType::kF32));
  std::byte* data = storage->mutable_raw();
  data_ = std::shared_ptr<std::byte>(std::move(storage), data);
}

Panels Panels::of_keys(const HeadsView& keys, int64_t head, KeyRange range, DType dtype) {
  FOVEA_ASSERT(dtype == DType::kF32 || (dtype == DType::kBF16 && keys.dtype == dtype));
  Panels panels(range.end - range.begin, keys.dim, dtype);
  if (dtype == DType::kF32) {
    fill_columns(
        reinterpret_cast<float*>(panels.data_.get()), panels.columns_, panels.steps(),
        [&](int64_t column, float* words) { keys.read_row(head, range.begin + column, 1, words); });
    return panels;
  }
  fill_columns(reinterpret_cast<uint32_t*>(panels.data_.get()), panels.columns_, panels.steps(),
               [&](int64_t column, uint32_t* words) {
                 const BF16* key = keys.bf16_row(head, range.begin + column);
                 int64_t c = 0;
                 for (; c + 1 < keys.dim; c += 2) words[c / 2] = pair_of(key[c], key[c + 1]);
                 if (c < keys.dim) words[c / 2] = pair_of(key[c], BF16{0});
               });
  return panels;
}

Panels Panels::of_values(const HeadsView& values, int64_t head, KeyRange range, DType dtype) {
  FOVEA_ASSERT(dtype == DType::kF32 || (dtype == DType::kBF16 && values.dtype == dtype));
  Panels panels(values.dim, range.end - range.begin, dtype);
  if (dtype == DType::kF32) {
    fill_steps(
        reinterpret_cast<float*>(panels.data_.get()), panels.columns_, panels.steps(),
        [&](int64_t step, float* words) { values.read_row(head, range.begin + step, 1, words); });
    return panels;
  }
  const std::vector<BF16> zeros(static_cast<size_t>(values.dim), BF16{0});
  fill_steps(reinterpret_cast<uint32_t*>(panels.data_.get()), panels.columns_, panels.steps(),
             [&](int64_t step, uint32_t* words) {
               const int64_t key = range.begin + 2 * step;
               const BF16* even = values.bf16_row(head, key);
               const BF16* odd =
                   key + 1 < range.end ? values.bf16_row(head, key + 1) : zeros.data();
               for (int64_t c = 0; c < values.dim; ++c) words[c] = pair_of(even[c], odd[c]);
             });
  return panels;
}

}  // namespace fovea
