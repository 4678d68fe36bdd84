#include "fovea/kernels/rotary.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/parallel_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rotary.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                       // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// Pairs (a, b) <- (a cos - b sin, a sin + b cos); `direction` is the sign of sin.
void rotate_halves(const float* row, const float* cos, const float* sin, float direction,
                   int64_t pairs, float* to) {
  const FloatTag d;
  const FloatVector sign = hn::Set(d, direction);
  int64_t p = 0;
  for (; p + kFloatLanes <= pairs; p += kFloatLanes) {
    const FloatVector a = hn::LoadU(d, row + p);
    const FloatVector b = hn::LoadU(d, row + pairs + p);
    const FloatVector c = hn::LoadU(d, cos + p);
    const FloatVector s = hn::Mul(sign, hn::LoadU(d, sin + p));
    hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, to + p);
    hn::StoreU(hn::MulAdd(a, s, hn::Mul(b, c)), d, to + pairs + p);
  }
  for (; p < pairs; ++p) {
    const float a = row[p], b = row[pairs + p], s = direction * sin[p];
    to[p] = a * cos[p] - b * s;
    to[pairs + p] = a * s + b * cos[p];
  }
}

void rotate_neighbours(const float* row, const float* cos, const float* sin, float direction,
                       int64_t pairs, float* to) {
  const FloatTag d;
  const FloatVector sign = hn::Set(d, direction);
  int64_t p = 0;
  for (; p + kFloatLanes <= pairs; p += kFloatLanes) {
    FloatVector a, b;
    hn::LoadInterleaved2(d, row + 2 * p, a, b);
    const FloatVector c = hn::LoadU(d, cos + p);
    const FloatVector s = hn::Mul(sign, hn::LoadU(d, sin + p));
    hn::StoreInterleaved2(hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(a, s, hn::Mul(b, c)), d,
                          to + 2 * p);
  }
  for (; p < pairs; ++p) {
    const float a = row[2 * p], b = row[2 * p + 1], s = direction * sin[p];
    to[2 * p] = a * cos[p] - b * s;
    to[2 * p + 1] = a * s + b * cos[p];
  }
}

void rotate_block(MatrixView<const float> x, MatrixView<const float> cos,
                  MatrixView<const float> sin, RotaryPairing pairing, float direction,
                  MatrixView<float> out) {
  const auto rotate = pairing == RotaryPairing::kHalves ? rotate_halves : rotate_neighbours;
  for (int64_t r = 0; r < x.rows; ++r) {
    rotate(x.row(r), cos.row(r), sin.row(r), direction, cos.cols, out.row(r));
    const int64_t rotated = 2 * cos.cols;
    if (x.data != out.data) std::copy(x.row(r) + rotated, x.row(r) + x.cols, out.row(r) + rotated);
  }
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(rotate_block);
}  // namespace

std::vector<float> rotary_frequencies(int64_t rotated_dim, float base) {
  if (rotated_dim < 0 || !(base > 0)) {
    fail(ErrorKind::kInvalidArgument,
         "rotary dimension {} with base {}: the dimension must not be negative and the base "
         "positive",
         rotated_dim, base);
  }
  std::vector<float> frequencies(static_cast<size_t>((rotated_dim + 1) / 2));
  for (size_t p = 0; p < frequencies.size(); ++p) {
    const float exponent = static_cast<float>(2 * p) / static_cast<float>(rotated_dim);
    frequencies[p] = 1.0f / static_cast<float>(std::pow(double{base}, double{exponent}));
  }
  return frequencies;
}

RotaryTable make_rotary_table(std::span<const int64_t> positions,
                              std::span<const float> frequencies, float scale) {
  const auto rows = static_cast<int64_t>(positions.size());
  const auto pairs = static_cast<int64_t>(frequencies.size());
  Tensor cos = Tensor::uninitialized({rows, pairs});
  Tensor sin = Tensor::uninitialized({rows, pairs});
  const std::span<float> cos_values = cos.mutable_values<float>();
  const std::span<float> sin_values = sin.mutable_values<float>();
  parallel_rows(rows, 16 * pairs, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto position = static_cast<float>(positions[static_cast<size_t>(r)]);
      for (int64_t p = 0; p < pairs; ++p) {
        const float angle = position * frequencies[static_cast<size_t>(p)];
        const auto at = static_cast<size_t>(r * pairs + p);
        cos_values[at] = static_cast<float>(std::cos(double{angle})) * scale;
        sin_values[at] = static_cast<float>(std::sin(double{angle})) * scale;
      }
    }
  });
  return {.cos = std::move(cos), .sin = std::move(sin)};
}

void rotate_rows(MatrixView<const float> x, const RotaryTable& table, RotaryPairing pairing,
                 bool backwards, MatrixView<float> out) {
  FOVEA_ASSERT(out.rows == x.rows && out.cols == x.cols);
  if (table.cos.rank() != 2 || !(table.cos.shape() == table.sin.shape()) ||
      table.rows() != x.rows || 2 * table.pairs() > x.cols) {
    fail(ErrorKind::kInvalidArgument,
         "rotary tables of shapes {} and {} do not fit rows [{}, {}]; they need [{}, at most {}]",
         to_string(table.cos.shape()), to_string(table.sin.shape()), x.rows, x.cols, x.rows,
         x.cols / 2);
  }
  const auto kernel = HWY_DYNAMIC_DISPATCH(rotate_block);
  const MatrixView<const float> cos = table.cos.matrix<float>();
  const MatrixView<const float> sin = table.sin.matrix<float>();
  parallel_rows(x.rows, x.cols, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    kernel(x.block(begin, 0, count, x.cols), cos.block(begin, 0, count, cos.cols),
           sin.block(begin, 0, count, sin.cols), pairing, backwards ? -1.0f : 1.0f,
           out.block(begin, 0, count, x.cols));
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
