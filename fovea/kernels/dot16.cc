#include "fovea/kernels/dot16.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/kernels/simd_targets.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace fovea {
namespace {

// Two integers beside each other are one lane of the instruction.
constexpr int64_t kLanes16 = 16;
// Rows whose sums, two vectors each, fill the registers.
constexpr int kRows = 12;

// Sums are kept as vectors of int: as __m512i, GCC 12 moves each through memory.
template <int kCount>
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void i16_tile(const I16Rows& rows,
                                                             const I16Panel& panel,
                                                             const I16Start& start, float* out,
                                                             int64_t out_step) {
  const auto* pairs = reinterpret_cast<const uint32_t*>(rows.data);
  const int64_t stride = rows.stride / 2;
  __v16si sum[kCount][2];
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) sum[r][0] = sum[r][1] = __v16si{};
  const uint32_t* column = panel.data;
  for (int64_t t = 0; t < panel.pairs; ++t, column += kPanelWidth) {
    const __m512i b0 = _mm512_load_si512(column);
    const __m512i b1 = _mm512_load_si512(column + kLanes16);
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) {
      const __m512i a = _mm512_set1_epi32(static_cast<int>(pairs[r * stride + t]));
      sum[r][0] = (__v16si)_mm512_dpwssd_epi32((__m512i)sum[r][0], a, b0);
      sum[r][1] = (__v16si)_mm512_dpwssd_epi32((__m512i)sum[r][1], a, b1);
    }
  }
  const __m512 units0 = _mm512_loadu_ps(panel.units);
  const __m512 units1 = _mm512_loadu_ps(panel.units + kLanes16);
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) {
    const __m512 unit = _mm512_set1_ps(rows.units[r * rows.unit_step]);
    const __m512 dot0 = _mm512_mul_ps((__m512) __builtin_convertvector(sum[r][0], __v16sf), unit);
    const __m512 dot1 = _mm512_mul_ps((__m512) __builtin_convertvector(sum[r][1], __v16sf), unit);
    const float* from = start.from + r * start.step;
    float* to = out + r * out_step;
    _mm512_store_ps(to, _mm512_fmadd_ps(dot0, units0, _mm512_load_ps(from)));
    _mm512_store_ps(to + kLanes16, _mm512_fmadd_ps(dot1, units1, _mm512_load_ps(from + kLanes16)));
  }
}

using I16Tile = void (*)(const I16Rows&, const I16Panel&, const I16Start&, float*, int64_t);

// kTiles[n] is for n + 1 rows.
template <size_t... kCounts>
constexpr std::array<I16Tile, sizeof...(kCounts)> make_tiles(std::index_sequence<kCounts...>) {
  return {i16_tile<int{kCounts} + 1>...};
}
constexpr auto kTiles = make_tiles(std::make_index_sequence<kRows>());

}  // namespace

bool has_i16_dot() {
  // Under another target, as tests choose it, the machine is one without the instruction.
  static const bool on_machine = __builtin_cpu_supports("avx512vnni") != 0;
  return on_machine && active_simd_target().starts_with("AVX3");
}

void i16_dots(const I16Rows& rows, const I16Panel& panel, const I16Start& start, float* out,
              int64_t out_step) {
  for (int64_t first = 0; first < rows.count; first += kRows) {
    const int64_t count = std::min<int64_t>(rows.count - first, kRows);
    I16Rows some = rows;
    some.data += first * rows.stride;
    some.units += first * rows.unit_step;
    kTiles[static_cast<size_t>(count - 1)](some, panel,
                                           {start.from + first * start.step, start.step},
                                           out + first * out_step, out_step);
  }
}

}  // namespace fovea

#else  // another kind of processor: products are f32

namespace fovea {

bool has_i16_dot() {
  return false;
}
void i16_dots(const I16Rows&, const I16Panel&, const I16Start&, float*, int64_t) {
  FOVEA_ASSERT(false);
}

}  // namespace fovea

#endif
