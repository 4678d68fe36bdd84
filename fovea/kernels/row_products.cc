#include "fovea/kernels/row_products.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernels/fixed_point.h"
#include "fovea/kernels/unpack.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/row_products.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                             // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

#ifndef FOVEA_KERNELS_ROW_PRODUCTS_ONCE_
#define FOVEA_KERNELS_ROW_PRODUCTS_ONCE_
namespace fovea {

// Weight rows that are unpacked and multiplied together.
inline constexpr int64_t kTogether = 8;

}  // namespace fovea
#endif  // FOVEA_KERNELS_ROW_PRODUCTS_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// The sums of the lanes of four vectors, side by side.
HWY_INLINE void store_four_sums(const FloatVector* v, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i) to[i] = hn::GetLane(v[i]);
#else
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> dw;
  const hn::FixedTag<float, 4> d4;
  const auto pair = [&](FloatVector a, FloatVector b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  // In blocks of four lanes: a, b, a, b, and then a, b, c, d.
  const auto ab = hn::BitCast(dw, pair(v[0], v[1])), cd = hn::BitCast(dw, pair(v[2], v[3]));
  const FloatVector sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(dw, ab, cd)),
                                   hn::BitCast(d, hn::InterleaveUpper(dw, ab, cd)));
  HWY_ALIGN float blocks[kFloatLanes];
  hn::Store(sums, d, blocks);
  auto total = hn::Load(d4, blocks);
  for (int64_t i = 4; i < kFloatLanes; i += 4) total = hn::Add(total, hn::Load(d4, blocks + i));
  hn::StoreU(total, d4, to);
#endif
}

// How weights lie: as f32, or as numbers of 16 bits that become f32 in registers.
struct Wide {
  using Number = float;
  static HWY_INLINE FloatVector load(const float* at) { return hn::LoadU(FloatTag(), at); }
};

struct Half {
  using Number = uint16_t;
  static HWY_INLINE FloatVector load(const uint16_t* at) {
    const FloatTag d;
    const hn::Rebind<hwy::float16_t, FloatTag> dh;
    return hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(hn::Rebind<uint16_t, FloatTag>(), at)));
  }
};

struct Brain {
  using Number = uint16_t;
  static HWY_INLINE FloatVector load(const uint16_t* at) {
    const hn::Rebind<uint32_t, FloatTag> du;
    const auto bits = hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint16_t, FloatTag>(), at));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
};

// Fewer numbers than fill a vector, and zeros.
template <class Lie>
HWY_INLINE FloatVector load_end(const typename Lie::Number* at, int64_t count) {
  HWY_ALIGN typename Lie::Number buffer[kFloatLanes] = {};
  std::copy_n(at, count, buffer);
  return Lie::load(buffer);
}

// sums[r * step + c] = x row r . weight row c, for kRows rows and kCols columns, a multiple of 4.
template <class Lie, int kRows, int kCols>
HWY_INLINE void dots(const float* x, int64_t x_stride, const std::byte* const* rows, int64_t depth,
                     float* sums, int64_t step) {
  const typename Lie::Number* weights[kCols];
  for (int c = 0; c < kCols; ++c) {
    weights[c] = reinterpret_cast<const typename Lie::Number*>(rows[c]);
  }
  const FloatTag d;
  FloatVector sum[kRows][kCols];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) sum[r][c] = hn::Zero(d);
  }
  int64_t k = 0;
  for (; k + kFloatLanes <= depth; k += kFloatLanes) {
    FloatVector w[kCols];
    for (int c = 0; c < kCols; ++c) w[c] = Lie::load(weights[c] + k);
    for (int r = 0; r < kRows; ++r) {
      const FloatVector a = hn::LoadU(d, x + r * x_stride + k);
      for (int c = 0; c < kCols; ++c) sum[r][c] = hn::MulAdd(a, w[c], sum[r][c]);
    }
  }
  if (const int64_t left = depth - k; left > 0) {
    for (int r = 0; r < kRows; ++r) {
      const FloatVector a = load_part(x + r * x_stride + k, left, 0.0F);
      for (int c = 0; c < kCols; ++c) {
        sum[r][c] = hn::MulAdd(a, load_end<Lie>(weights[c] + k, left), sum[r][c]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; c += 4) store_four_sums(&sum[r][c], sums + r * step + c);
  }
}

template <class Lie, int kRows>
HWY_INLINE void tile_dots(MatrixView<const float> x, int64_t row, const std::byte* const* weights,
                          float* sums, int64_t step) {
  constexpr int kCols = kRows == 1 ? static_cast<int>(kTogether) : 4;
  for (int64_t c = 0; c < kTogether; c += kCols) {
    dots<Lie, kRows, kCols>(x.row(row), x.stride, weights + c, x.cols, sums + row * step + c, step);
  }
}

// As many sums as there are registers, less those that are multiplied.
constexpr int64_t kTile = HWY_TARGET <= HWY_AVX3 ? 6 : 2;

template <class Lie>
HWY_INLINE void all_tiles(MatrixView<const float> x, const std::byte* const* weights, float* sums,
                          int64_t step) {
  for (int64_t r = 0; r < x.rows; r += kTile) {
    switch (HWY_MIN(kTile, x.rows - r)) {
      case 1:
        tile_dots<Lie, 1>(x, r, weights, sums, step);
        break;
      case 2:
        tile_dots<Lie, 2>(x, r, weights, sums, step);
        break;
      case 3:
        tile_dots<Lie, 3>(x, r, weights, sums, step);
        break;
      case 4:
        tile_dots<Lie, 4>(x, r, weights, sums, step);
        break;
      case 5:
        tile_dots<Lie, 5>(x, r, weights, sums, step);
        break;
      default:
        tile_dots<Lie, 6>(x, r, weights, sums, step);
    }
  }
}

// Rows of x times kTogether weight rows, which are of numbers one by one.
void few_dots(StoredFormat format, MatrixView<const float> x, const std::byte* const* weights,
              float* sums, int64_t step) {
  if (format == StoredFormat::kF16) return all_tiles<Half>(x, weights, sums, step);
  if (format == StoredFormat::kBF16) return all_tiles<Brain>(x, weights, sums, step);
  all_tiles<Wide>(x, weights, sums, step);
}

// Whether it costs less to widen numbers for each tile again than to write them down once.
bool widens_in_registers(int64_t rows) {
  return rows <= 2 * kTile;
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(few_dots);
HWY_EXPORT(widens_in_registers);

// Outputs [first, first + count) of every row.
struct OutputRange {
  int64_t first;
  int64_t count;
};

void finish_range(MatrixView<float> sums, OutputRange range, const Epilogue& epilogue,
                  MatrixView<float> out) {
  for (int64_t r = 0; r < sums.rows; ++r) {
    float* row = sums.row(r);
    if (!epilogue.bias.empty()) {
      const float* bias = epilogue.bias.data() + range.first;
      for (int64_t c = 0; c < range.count; ++c) row[c] += bias[c];
    }
    const std::span<float> values(row, static_cast<size_t>(range.count));
    if (epilogue.activation != Activation::kNone) {
      apply_activation(epilogue.activation, values, values);
    }
    float* to = out.row(r) + range.first;
    if (epilogue.residual.data == nullptr) {
      std::ranges::copy(values, to);
      continue;
    }
    const float* residual = epilogue.residual.row(r) + range.first;
    for (int64_t c = 0; c < range.count; ++c) to[c] = row[c] + residual[c];
  }
}

// Brings stored rows on their way into the second-level cache while others are multiplied.
void prefetch_rows(const StoredMatrix& weight, int64_t first, int64_t count) {
  constexpr int64_t kCacheLine = 64;
  for (int64_t r = first; r < std::min(first + count, weight.rows()); ++r) {
    const std::byte* row = weight.row(r);
    for (int64_t at = 0; at < weight.row_bytes(); at += kCacheLine) {
      __builtin_prefetch(row + at, 0, 2);
    }
  }
}

}  // namespace

void row_products(MatrixView<const float> x, const StoredMatrix& weight, DType compute,
                  const Epilogue& epilogue, MatrixView<float> out) {
  // Several pieces of work for each thread, of some 10 microseconds at least.
  constexpr int64_t kLeastProducts = 200'000;
  const int64_t depth = weight.cols(), outputs = weight.rows();
  const bool rounds = compute == DType::kI16;
  Tensor rounded;
  if (rounds) {
    rounded = Tensor::uninitialized({x.rows, depth});
    for (int64_t r = 0; r < x.rows; ++r) {
      std::copy_n(x.row(r), depth, rounded.mutable_matrix<float>().row(r));
    }
    round_to_fixed_units(rounded.mutable_matrix<float>());
    x = std::as_const(rounded).matrix<float>();
  }
  const int64_t groups = (outputs + kTogether - 1) / kTogether;
  const int64_t pieces = std::clamp<int64_t>(x.rows * outputs * depth / kLeastProducts, 1,
                                             int64_t{8} * thread_count());
  const int64_t step = (groups + pieces - 1) / pieces;
  const StoredFormat stored = weight.format();
  const bool halves = stored == StoredFormat::kF16 || stored == StoredFormat::kBF16;
  const bool in_place = !rounds && (stored == StoredFormat::kF32 ||
                                    (halves && HWY_DYNAMIC_DISPATCH(widens_in_registers)(x.rows)));
  const StoredFormat multiplied = in_place ? stored : StoredFormat::kF32;
  // One token at a time: blocks are multiplied without being unpacked.
  std::optional<BlockDot> one;
  if (x.rows == 1 && !rounds && stored_block(stored).elements > 1) {
    one.emplace(stored, std::span(x.row(0), static_cast<size_t>(depth)));
  }
  parallel_for((groups + step - 1) / step, [&](int64_t piece) {
    const OutputRange range{piece * step * kTogether,
                            std::min(step * kTogether, outputs - piece * step * kTogether)};
    const int64_t padded = (range.count + kTogether - 1) / kTogether * kTogether;
    Tensor sums = Tensor::uninitialized({x.rows, padded});
    const MatrixView<float> to = sums.mutable_matrix<float>();
    Tensor unpacked = Tensor::uninitialized({in_place ? 0 : kTogether, depth});
    if (one) {
      std::vector<const std::byte*> rows;
      for (int64_t c = 0; c < range.count; ++c) rows.push_back(weight.row(range.first + c));
      (*one)(rows, to.row(0));
      return finish_range(to.block(0, 0, 1, range.count), range, epilogue, out);
    }
    for (int64_t c = 0; c < range.count; c += kTogether) {
      const std::byte* rows[kTogether];
      for (int64_t i = 0; i < kTogether; ++i) {
        // Beyond the last row it is multiplied again, for nothing.
        const int64_t row = std::min(range.first + c + i, outputs - 1);
        if (in_place) {
          rows[i] = weight.row(row);
          continue;
        }
        float* const place = unpacked.mutable_matrix<float>().row(i);
        unpack(stored, weight.row(row), depth, place);
        if (rounds) round_to_fixed_units({place, 1, depth});
        rows[i] = reinterpret_cast<const std::byte*>(place);
      }
      prefetch_rows(weight, range.first + c + kTogether, kTogether);
      HWY_DYNAMIC_DISPATCH(few_dots)(multiplied, x, rows, to.data + c, to.stride);
    }
    finish_range(to.block(0, 0, x.rows, range.count), range, epilogue, out);
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
