#include "fovea/kernels/fixed_product.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/fixed_product.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                              // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

#ifndef FOVEA_KERNELS_FIXED_PRODUCT_ONCE_
#define FOVEA_KERNELS_FIXED_PRODUCT_ONCE_
namespace fovea {

inline constexpr int64_t kGroup = 16;  // columns that lie together in the output

// Some rows of one panel's results, on their way to the output.
struct TileOfResults {
  float* values;  // kPanelWidth apart, 64-byte aligned
  int64_t first_row;
  int64_t rows;
  int64_t first_column;
  int64_t columns;
};

}  // namespace fovea
#endif  // FOVEA_KERNELS_FIXED_PRODUCT_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

void finish_tile(const TileOfResults& tile, const FixedOutput& output) {
  const FloatTag d;
  const FloatVector zero = hn::Zero(d);
  for (int64_t column = 0; column < tile.columns; column += kGroup) {
    const int64_t at = (tile.first_column + column) / kGroup * output.group_step;
    const int64_t count = output.whole_groups ? kGroup : HWY_MIN(tile.columns - column, kGroup);
    for (int64_t r = 0; r < tile.rows; ++r) {
      const int64_t row = tile.first_row + r;
      const float* from = tile.values + r * kPanelWidth + column;
      const float* residual = output.residual == nullptr
                                  ? nullptr
                                  : output.residual + row * output.residual_row_step + at;
      float* to = output.data + row * output.row_step + at;
      for (int64_t c = 0; c < count; c += kFloatLanes) {
        const int64_t left = count - c;
        const bool whole = left >= kFloatLanes;
        FloatVector x = hn::Load(d, from + c);
        if (residual != nullptr) {
          x = hn::Add(x, whole ? hn::LoadU(d, residual + c) : load_part(residual + c, left, 0.0f));
        }
        if (output.relu) x = hn::IfThenElse(hn::Lt(x, zero), zero, x);  // NaN stays
        if (whole) {
          hn::StoreU(x, d, to + c);
        } else {
          store_part(x, to + c, left);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(finish_tile);

// Rows of a tile: what one call of add_i16_dots takes at once.
constexpr int64_t kTileRows = 12;
// What one thread takes: rows that stay in its cache while the panels go by, and panels that stay
// while the rows do.
constexpr int64_t kBlockTiles = 8;
constexpr int64_t kMostPanels = 8;

// Runs are cut into tiles of nearly the same number of rows.
struct Tiles {
  Tiles(const FixedRuns& r)
      : runs(r), per_run((r.length + kTileRows - 1) / kTileRows), count(r.runs * per_run) {}

  struct Tile {
    int64_t first;  // its first row of the output
    int64_t rows;
    int64_t source;  // the row that its first tap meets, taps left out
  };
  Tile operator[](int64_t index) const {
    const int64_t run = index / per_run, part = index % per_run;
    const int64_t begin = part * runs.length / per_run;
    const int64_t end = (part + 1) * runs.length / per_run;
    return {run * runs.length + begin, end - begin, run * runs.run_step + begin * runs.row_step};
  }

  const FixedRuns& runs;
  int64_t per_run;
  int64_t count;
};

struct Range {
  int64_t begin, end;
};

// Some tiles of rows times some panels of columns, in one thread.
void multiply(const FixedRows& rows, const Tiles& tiles, Range some, const FixedWeights& weights,
              Range panels, const FixedOutput& output) {
  const std::vector<int64_t>& taps = tiles.runs.taps;
  alignas(64) float values[kTileRows * kPanelWidth];
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const int64_t column = panel * kPanelWidth;
    const int64_t columns = std::min(weights.columns() - column, kPanelWidth);
    alignas(64) float bias[kPanelWidth] = {};
    if (!output.bias.empty()) std::copy_n(output.bias.data() + column, columns, bias);
    for (int64_t index = some.begin; index < some.end; ++index) {
      const Tiles::Tile tile = tiles[index];
      I16Start start{bias};
      for (size_t tap = 0; tap < taps.size(); ++tap) {
        i16_dots(rows.view(tile.source + taps[tap], tile.rows, tiles.runs.row_step),
                 weights.panel(panel, static_cast<int64_t>(tap)), start, values, kPanelWidth);
        start = {values, kPanelWidth};
      }
      if (output.activation != Activation::kNone) {
        const std::span<float> all(values, static_cast<size_t>(tile.rows * kPanelWidth));
        apply_activation(output.activation, all, all);
      }
      HWY_DYNAMIC_DISPATCH(finish_tile)
      ({values, tile.first, tile.rows, column, columns}, output);
    }
  }
}

}  // namespace

FixedWeights::FixedWeights(int64_t columns, int64_t taps, int64_t depth,
                           const std::function<void(int64_t column, float* to)>& read)
    : columns_(columns), taps_(taps), depth_(depth) {
  const int64_t pairs = (depth + 1) / 2, words = taps * pairs * kPanelWidth;
  numbers_ = Tensor(Shape{panels() * words}, DType::kU32);  // zeros
  units_ = Tensor(Shape{panels() * kPanelWidth});
  uint32_t* const numbers = numbers_.mutable_values<uint32_t>().data();
  float* const units = units_.mutable_values<float>().data();
  data_ = numbers;
  unit_data_ = units;
  parallel_for(panels(), [&](int64_t panel) {
    Tensor column = Tensor::uninitialized({taps * depth});
    Tensor integers(Shape{2 * pairs}, DType::kI16);  // an odd number is filled up with a zero
    float* const floats = column.mutable_values<float>().data();
    int16_t* const fixed = integers.mutable_values<int16_t>().data();
    const int64_t first = panel * kPanelWidth;
    for (int64_t c = first; c < std::min(first + kPanelWidth, columns); ++c) {
      read(c, floats);
      // A sum of products is over one tap only.
      RowSize size;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const RowSize own = row_size(floats + tap * depth, depth);
        size = {std::max(size.norm, own.norm), std::max(size.largest, own.largest)};
        if (std::isnan(own.norm)) size.norm = own.norm;
      }
      units[c] = fixed_unit(size);
      uint32_t* to = numbers + panel * words + c % kPanelWidth;
      for (int64_t tap = 0; tap < taps; ++tap) {
        fix_row(floats + tap * depth, depth, units[c], fixed);
        for (int64_t pair = 0; pair < pairs; ++pair, to += kPanelWidth) {
          *to = uint32_t{static_cast<uint16_t>(fixed[2 * pair])} |
                uint32_t{static_cast<uint16_t>(fixed[2 * pair + 1])} << 16;
        }
      }
    }
  });
}

I16Panel FixedWeights::panel(int64_t index, int64_t tap) const {
  const int64_t pairs = (depth_ + 1) / 2;
  return {.data = data_ + (index * taps_ + tap) * pairs * kPanelWidth,
          .pairs = pairs,
          .units = unit_data_ + index * kPanelWidth};
}

void FixedWeights::read(int64_t column, float* to) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    const I16Panel from = panel(column / kPanelWidth, tap);
    const float unit = from.units[column % kPanelWidth];
    const uint32_t* pairs = from.data + column % kPanelWidth;
    for (int64_t i = 0; i < depth_; ++i) {
      const uint32_t pair = pairs[i / 2 * kPanelWidth];
      *to++ = unit * static_cast<float>(static_cast<int16_t>(i % 2 == 0 ? pair : pair >> 16));
    }
  }
}

void fixed_products(const FixedRows& rows, const FixedRuns& runs, const FixedWeights& weights,
                    const FixedOutput& output) {
  const Tiles tiles(runs);
  const int64_t blocks = (tiles.count + kBlockTiles - 1) / kBlockTiles;
  // Several pieces of work for each thread, so that they end together.
  const int64_t pieces = int64_t{16} * thread_count();
  const int64_t panels = std::clamp<int64_t>(weights.panels() * blocks / pieces, 1, kMostPanels);
  const int64_t strips = (weights.panels() + panels - 1) / panels;
  parallel_for(blocks * strips, [&](int64_t item) {
    const int64_t first_tile = item / strips * kBlockTiles;
    const int64_t first_panel = item % strips * panels;
    multiply(rows, tiles, {first_tile, std::min(first_tile + kBlockTiles, tiles.count)}, weights,
             {first_panel, std::min(first_panel + panels, weights.panels())}, output);
  });
}

void fixed_products(int64_t rows, const FixedWeights& weights, const FixedOutput& output,
                    const std::function<void(FixedRows& to, int64_t first, int64_t count)>& set) {
  const FixedRuns run{.length = rows};
  const Tiles tiles(run);
  const int64_t threads = thread_count();
  if (tiles.count < 2 * threads) {  // too few rows for all threads: columns are divided too
    FixedRows all(rows, weights.depth());
    set(all, 0, rows);
    return fixed_products(all, run, weights, output);
  }
  // Blocks of nearly the same size, and as many for each thread.
  const int64_t rounds = (tiles.count + kBlockTiles * threads - 1) / (kBlockTiles * threads);
  const int64_t blocks = rounds * threads;
  parallel_for(blocks, [&](int64_t block) {
    const Range own{block * tiles.count / blocks, (block + 1) * tiles.count / blocks};
    if (own.begin == own.end) return;
    const int64_t first = tiles[own.begin].first;
    const Tiles::Tile last = tiles[own.end - 1];
    const int64_t count = last.first + last.rows - first;
    FixedRows some(count, weights.depth());
    set(some, first, count);
    const FixedRuns part{.length = count};
    FixedOutput part_output = output;
    part_output.data += first * output.row_step;
    if (output.residual != nullptr) part_output.residual += first * output.residual_row_step;
    const Tiles part_tiles(part);
    multiply(some, part_tiles, {0, part_tiles.count}, weights, {0, weights.panels()}, part_output);
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
