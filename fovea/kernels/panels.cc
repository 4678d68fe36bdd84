#include "fovea/kernels/panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/kernels/fixed_point.h"

namespace fovea {
namespace {

int64_t padded(int64_t columns) {
  return (columns + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
}

// The largest of what row_size says of each.
RowSize size_of_rows(const HeadsView& view, int64_t head, KeyRange range) {
  RowSize size;
  std::vector<float> row(static_cast<size_t>(view.dim));
  for (int64_t r = range.begin; r < range.end; ++r) {
    view.read_row(head, r, 1, row.data());
    const RowSize own = row_size(row.data(), view.dim);
    if (std::isnan(own.norm)) return own;
    size = {std::max(size.norm, own.norm), std::max(size.largest, own.largest)};
  }
  return size;
}

// A run of so many keys lies in two blocks of as many: its norm is at most sqrt(2) times the larger
// of theirs.
void set_column_units(const HeadsView& values, int64_t head, KeyRange range,
                      std::vector<float>& units) {
  const auto dim = static_cast<size_t>(values.dim);
  std::vector<float> row(dim), squares(dim), most_squares(dim), largest(dim);
  const auto end_block = [&] {
    for (size_t c = 0; c < dim; ++c) {
      // NaN stays.
      most_squares[c] = most_squares[c] >= squares[c] ? most_squares[c] : squares[c];
      squares[c] = 0;
    }
  };
  for (int64_t key = range.begin; key < range.end; ++key) {
    values.read_row(head, key, 1, row.data());
    for (size_t c = 0; c < dim; ++c) {
      squares[c] += row[c] * row[c];
      largest[c] = std::max(largest[c], std::abs(row[c]));
    }
    if ((key - range.begin) % kMostFixedKeys == kMostFixedKeys - 1) end_block();
  }
  end_block();
  for (size_t c = 0; c < dim; ++c) {
    units[c] = fixed_unit({std::sqrt(2 * double{most_squares[c]}), double{largest[c]}});
  }
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
      Shape{padded(columns), steps()}, dtype == DType::kF32 ? DType::kF32 : DType::kU32));
  std::byte* data = storage->mutable_raw();
  data_ = std::shared_ptr<std::byte>(std::move(storage), data);
  if (dtype == DType::kF32) return;
  // One panel at least: whoever has no columns may still ask for the first unit.
  units_ = std::make_shared<std::vector<float>>(
      static_cast<size_t>(std::max(padded(columns), kPanelWidth)));
}

Panels Panels::of_keys(const HeadsView& keys, int64_t head, KeyRange range, DType dtype) {
  FOVEA_ASSERT(dtype == DType::kF32 || dtype == DType::kI16);
  Panels panels(range.end - range.begin, keys.dim, dtype);
  if (dtype == DType::kF32) {
    fill_columns(
        reinterpret_cast<float*>(panels.data_.get()), panels.columns_, panels.steps(),
        [&](int64_t column, float* words) { keys.read_row(head, range.begin + column, 1, words); });
    return panels;
  }
  const float unit = fixed_unit(size_of_rows(keys, head, range));
  panels.units_->assign(panels.units_->size(), unit);
  std::vector<float> key(static_cast<size_t>(keys.dim));
  std::vector<int16_t> fixed(static_cast<size_t>(2 * panels.steps()), 0);
  fill_columns(reinterpret_cast<uint32_t*>(panels.data_.get()), panels.columns_, panels.steps(),
               [&](int64_t column, uint32_t* words) {
                 keys.read_row(head, range.begin + column, 1, key.data());
                 fix_row(key.data(), keys.dim, unit, fixed.data());
                 // Two integers beside each other are a pair already.
                 std::memcpy(words, fixed.data(), fixed.size() * sizeof(int16_t));
               });
  return panels;
}

Panels Panels::of_values(const HeadsView& values, int64_t head, KeyRange range, DType dtype) {
  FOVEA_ASSERT(dtype == DType::kF32 || dtype == DType::kI16);
  Panels panels(values.dim, range.end - range.begin, dtype);
  if (dtype == DType::kF32) {
    fill_steps(
        reinterpret_cast<float*>(panels.data_.get()), panels.columns_, panels.steps(),
        [&](int64_t step, float* words) { values.read_row(head, range.begin + step, 1, words); });
    return panels;
  }
  std::vector<float>& units = *panels.units_;
  set_column_units(values, head, range, units);
  const auto dim = static_cast<size_t>(values.dim);
  std::vector<float> row(dim), factors(dim);
  for (size_t c = 0; c < dim; ++c) factors[c] = units[c] > 0 ? 1 / units[c] : 0;
  std::vector<int16_t> even(dim), odd(dim);
  const auto read = [&](int64_t key, std::vector<int16_t>& fixed) {
    if (key >= range.end) return std::fill(fixed.begin(), fixed.end(), int16_t{0});
    values.read_row(head, key, 1, row.data());
    for (size_t c = 0; c < dim; ++c) row[c] *= factors[c];
    fix_row(row.data(), values.dim, 1, fixed.data());
  };
  fill_steps(reinterpret_cast<uint32_t*>(panels.data_.get()), panels.columns_, panels.steps(),
             [&](int64_t step, uint32_t* words) {
               read(range.begin + 2 * step, even);
               read(range.begin + 2 * step + 1, odd);
               for (size_t c = 0; c < dim; ++c) {
                 words[c] = uint32_t{static_cast<uint16_t>(even[c])} |
                            uint32_t{static_cast<uint16_t>(odd[c])} << 16;
               }
             });
  return panels;
}

}  // namespace fovea
