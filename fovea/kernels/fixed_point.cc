#include "fovea/kernels/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/log.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/tensor/large_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/fixed_point.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                            // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

#ifndef FOVEA_KERNELS_FIXED_POINT_ONCE_
#define FOVEA_KERNELS_FIXED_POINT_ONCE_
namespace fovea {

struct FloatSize {
  float squares;
  float largest;
};

inline constexpr int64_t kGroup = 16;

// Rows of groups (FixedRows::set_grouped), and where their integers go.
struct GroupedRows {
  const float* from;
  int64_t count;
  int64_t groups;
  int64_t group_step;
  int16_t* to;
  int64_t stride;
  float* units;
};

// Squares of such numbers, and of one over them, are floats.
inline bool has_safe_size(FloatSize size) {
  return size.largest < 1e15F && size.squares < 1e36F &&
         (size.largest > 1e-15F || size.largest == 0);
}

}  // namespace fovea
#endif  // FOVEA_KERNELS_FIXED_POINT_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// Four sums at once; 16 lanes of a few hundred terms each lose nothing that matters here.
FloatSize size_of(const float* row, int64_t count) {
  const FloatTag d;
  FloatVector squares[4], largest[4];
  for (int k = 0; k < 4; ++k) squares[k] = largest[k] = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * kFloatLanes <= count; i += 4 * kFloatLanes) {
    for (int k = 0; k < 4; ++k) {
      const FloatVector x = hn::LoadU(d, row + i + k * kFloatLanes);
      squares[k] = hn::MulAdd(x, x, squares[k]);
      largest[k] = hn::Max(largest[k], hn::Abs(x));
    }
  }
  for (; i < count; i += kFloatLanes) {
    const FloatVector x =
        i + kFloatLanes <= count ? hn::LoadU(d, row + i) : load_part(row + i, count - i, 0.0f);
    squares[0] = hn::MulAdd(x, x, squares[0]);
    largest[0] = hn::Max(largest[0], hn::Abs(x));
  }
  const FloatVector sum = hn::Add(hn::Add(squares[0], squares[1]), hn::Add(squares[2], squares[3]));
  const FloatVector most =
      hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]));
  return {hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::MaxOfLanes(d, most))};
}

void round_range(const float* from, int64_t count, float factor, int16_t* to) {
  const FloatTag d;
  const hn::Rebind<int16_t, FloatTag> dh;
  const FloatVector f = hn::Set(d, factor);
  const auto round = [=](FloatVector x)
                         HWY_ATTR { return hn::DemoteTo(dh, hn::NearestInt(hn::Mul(x, f))); };
  int64_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    hn::StoreU(round(hn::LoadU(d, from + i)), dh, to + i);
  }
  if (i < count) {
    HWY_ALIGN int16_t buffer[kFloatLanes];
    hn::StoreU(round(load_part(from + i, count - i, 0.0f)), dh, buffer);
    std::memcpy(to + i, buffer, static_cast<size_t>(count - i) * sizeof(int16_t));
  }
}

// The unit of a row that is for others to do is -1.
void fix_grouped_rows(const GroupedRows& rows) {
  const FloatTag d;
  const hn::Rebind<int16_t, FloatTag> dh;
  for (int64_t r = 0; r < rows.count; ++r) {
    const float* from = rows.from + r * kGroup;
    FloatVector squares = hn::Zero(d), largest = squares;
    for (int64_t g = 0; g < rows.groups; ++g) {
      for (int64_t c = 0; c < kGroup; c += kFloatLanes) {
        const FloatVector x = hn::LoadU(d, from + g * rows.group_step + c);
        squares = hn::MulAdd(x, x, squares);
        largest = hn::Max(largest, hn::Abs(x));
      }
    }
    const FloatSize size{hn::GetLane(hn::SumOfLanes(d, squares)),
                         hn::GetLane(hn::MaxOfLanes(d, largest))};
    if (!has_safe_size(size)) {
      rows.units[r] = -1;
      continue;
    }
    const float unit = fixed_unit({std::sqrt(double{size.squares}), double{size.largest}});
    rows.units[r] = unit;
    const FloatVector factor = hn::Set(d, unit > 0 ? 1 / unit : 0.0F);
    int16_t* to = rows.to + r * rows.stride;
    for (int64_t g = 0; g < rows.groups; ++g) {
      for (int64_t c = 0; c < kGroup; c += kFloatLanes) {
        const FloatVector x = hn::LoadU(d, from + g * rows.group_step + c);
        hn::StoreU(hn::DemoteTo(dh, hn::NearestInt(hn::Mul(x, factor))), dh, to + g * kGroup + c);
      }
    }
  }
}

void round_in_place(float* row, int64_t count, float unit) {
  const FloatTag d;
  const FloatVector factor = hn::Set(d, 1 / unit), back = hn::Set(d, unit);
  map_floats(
      row, count,
      [=](FloatVector x) HWY_ATTR { return hn::Mul(hn::Round(hn::Mul(x, factor)), back); }, row);
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(size_of);
HWY_EXPORT(round_range);
HWY_EXPORT(round_in_place);
HWY_EXPORT(fix_grouped_rows);

// 46,000 + half a unit for each of 400,000 terms is below the root of 2^31.
constexpr double kLargestNorm = 46000;
constexpr double kLargestNumber = 32767;
constexpr double kSmallestUnit = 0x1p-120;  // one over it is a float too
// What rounding may add to the size of a row that is to keep its unit.
constexpr double kRoom = 1.01;

float roomy_unit(RowSize size) {
  return fixed_unit({size.norm * kRoom, size.largest * kRoom});
}

}  // namespace

DType usable_compute_dtype(DType wanted) {
  if (wanted == DType::kF32) return wanted;
  if (wanted != DType::kI16) {
    fail(ErrorKind::kInvalidArgument, "products in {} were asked for; F32 and I16 can be done",
         dtype_name(wanted));
  }
  if (has_i16_dot()) return wanted;
  log(LogLevel::kInfo, "this processor has no 16-bit products (AVX512_VNNI); they are F32 instead");
  return DType::kF32;
}

RowSize row_size(const float* row, int64_t count) {
  const FloatSize found = HWY_DYNAMIC_DISPATCH(size_of)(row, count);
  double squares = found.squares, largest = found.largest;
  if (!has_safe_size(found)) {
    squares = largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      squares += double{row[i]} * double{row[i]};
      largest = std::max(largest, std::abs(double{row[i]}));
    }
  }
  return {std::sqrt(squares), largest};
}

float fixed_unit(RowSize size) {
  if (!std::isfinite(size.norm)) return std::numeric_limits<float>::quiet_NaN();
  if (size.largest == 0) return 0;
  // The next power of two, which is what the exponent's bits say.
  constexpr uint64_t kExponent = 0x7FF0'0000'0000'0000;
  const double needed = std::max(size.norm / kLargestNorm, size.largest / kLargestNumber);
  const double below = std::bit_cast<double>(std::bit_cast<uint64_t>(needed) & kExponent);
  return static_cast<float>(std::max(2 * below, kSmallestUnit));
}

void fix_row(const float* from, int64_t count, float unit, int16_t* to) {
  if (unit > 0) {
    HWY_DYNAMIC_DISPATCH(round_range)(from, count, 1 / unit, to);
  } else {
    std::fill_n(to, count, int16_t{0});
  }
}

void round_to_common_unit(MatrixView<float> rows) {
  RowSize size;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const RowSize row = row_size(rows.row(r), rows.cols);
    if (!std::isfinite(row.norm)) return;  // whoever looks at the numbers will say so
    size = {std::max(size.norm, row.norm), std::max(size.largest, row.largest)};
  }
  const float unit = roomy_unit(size);
  if (!(unit > 0)) return;
  const auto kernel = HWY_DYNAMIC_DISPATCH(round_in_place);
  for (int64_t r = 0; r < rows.rows; ++r) kernel(rows.row(r), rows.cols, unit);
}

void round_to_units(MatrixView<float> rows) {
  const auto kernel = HWY_DYNAMIC_DISPATCH(round_in_place);
  parallel_rows(rows.rows, rows.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float unit = roomy_unit(row_size(rows.row(r), rows.cols));
      if (unit > 0) kernel(rows.row(r), rows.cols, unit);
    }
  });
}

void round_to_fixed_units(MatrixView<float> rows) {
  const auto kernel = HWY_DYNAMIC_DISPATCH(round_in_place);
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float unit = fixed_unit(row_size(rows.row(r), rows.cols));
    if (unit > 0) kernel(rows.row(r), rows.cols, unit);
  }
}

FixedRows::FixedRows(int64_t rows, int64_t depth) : depth_(depth) {
  constexpr int64_t kLine = 32;  // numbers of a cache line
  int64_t lines = (depth + kLine - 1) / kLine;
  // A dozen rows are read side by side; so many lines apart they would share few places in the
  // first-level cache.
  if (lines % 16 == 0) ++lines;
  stride_ = lines * kLine;
  // One product after the other needs such memory, and large blocks are kept for the next.
  constexpr int64_t kWorthKeeping = int64_t{128} << 10, kLarge = kLargeFrom / sizeof(int16_t);
  const int64_t needed = rows * stride_;
  numbers_ = Tensor::uninitialized({needed < kWorthKeeping ? needed : std::max(needed, kLarge)},
                                   DType::kI16);
  units_ = Tensor::uninitialized({rows});
  data_ = numbers_.mutable_values<int16_t>().data();
  unit_data_ = units_.mutable_values<float>().data();
}

void FixedRows::set(int64_t row, const float* from) {
  const float unit = fixed_unit(row_size(from, depth_));
  int16_t* to = data_ + row * stride_;
  fix_row(from, depth_, unit, to);
  if (depth_ % 2 != 0) to[depth_] = 0;
  unit_data_[row] = unit;
}

void FixedRows::set_grouped(int64_t row, int64_t count, const float* from, int64_t group_step) {
  const int64_t groups = (depth_ + kGroup - 1) / kGroup;
  float* units = unit_data_ + row;
  HWY_DYNAMIC_DISPATCH(fix_grouped_rows)
  ({.from = from,
    .count = count,
    .groups = groups,
    .group_step = group_step,
    .to = data_ + row * stride_,
    .stride = stride_,
    .units = units});
  for (int64_t r = 0; r < count; ++r) {
    if (!(units[r] < 0)) continue;
    std::vector<float> numbers;
    for (int64_t g = 0; g < groups; ++g) {
      const float* group = from + g * group_step + r * kGroup;
      numbers.insert(numbers.end(), group, group + kGroup);
    }
    set(row + r, numbers.data());
  }
}

void FixedRows::set_zero(int64_t row) {
  std::fill_n(data_ + row * stride_, (depth_ + 1) / 2 * 2, int16_t{0});
  unit_data_[row] = 0;
}

I16Rows FixedRows::view(int64_t first, int64_t count, int64_t step) const {
  return {.data = data_ + first * stride_,
          .stride = stride_ * step,
          .count = count,
          .units = unit_data_ + first,
          .unit_step = step};
}

}  // namespace fovea
#endif  // HWY_ONCE
