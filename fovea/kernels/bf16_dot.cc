#include "fovea/kernels/bf16_dot.h"

#include "fovea/base/error.h"
#include "fovea/kernels/simd_targets.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace fovea {
namespace {

// Two bf16 numbers beside each other are one lane of the instruction.
constexpr int64_t kLanes = 16;
// Rows whose sums fill the registers: beside each dot product stands the running chunk that joins
// it every kChunk pairs, as in attention_rows-inl.h.
constexpr int kDotRows = 6;
constexpr int kWeightedRows = 12;
constexpr int64_t kChunk = 16;

// One pair of terms for kRows x 2 vectors of sums.
template <int kRows>
[[gnu::target("avx512f,avx512bf16"), gnu::always_inline]] inline void add_pair(
    const uint32_t* rows, int64_t stride, const uint32_t* panel_row, __m512 (&sum)[kRows][2]) {
  const auto b0 = (__m512bh)_mm512_load_si512(panel_row);
  const auto b1 = (__m512bh)_mm512_load_si512(panel_row + kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const auto a = (__m512bh)_mm512_set1_epi32(static_cast<int>(rows[r * stride]));
    sum[r][0] = _mm512_dpbf16_ps(sum[r][0], a, b0);
    sum[r][1] = _mm512_dpbf16_ps(sum[r][1], a, b1);
  }
}

template <int kRows>
[[gnu::target("avx512f,avx512bf16")]] void dot_rows(const uint32_t* rows, int64_t stride,
                                                    float factor, int64_t pairs,
                                                    const uint32_t* panel, float* out,
                                                    int64_t out_stride) {
  __m512 total[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) total[r][0] = total[r][1] = _mm512_setzero_ps();
  for (int64_t begin = 0; begin < pairs; begin += kChunk) {
    __m512 sum[kRows][2];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
    if (begin + kChunk <= pairs) {
#pragma GCC unroll 16
      for (int64_t t = 0; t < kChunk; ++t) {
        add_pair<kRows>(rows + begin + t, stride, panel + (begin + t) * kPanelWidth, sum);
      }
    } else {
      for (int64_t t = begin; t < pairs; ++t) {
        add_pair<kRows>(rows + t, stride, panel + t * kPanelWidth, sum);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      total[r][0] = _mm512_add_ps(total[r][0], sum[r][0]);
      total[r][1] = _mm512_add_ps(total[r][1], sum[r][1]);
    }
  }
  const __m512 scale = _mm512_set1_ps(factor);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    _mm512_store_ps(out + r * out_stride, _mm512_mul_ps(total[r][0], scale));
    _mm512_store_ps(out + r * out_stride + kLanes, _mm512_mul_ps(total[r][1], scale));
  }
}

template <int kRows>
[[gnu::target("avx512f,avx512bf16")]] void weighted_rows(const uint32_t* weights, int64_t stride,
                                                         int64_t pairs, const uint32_t* panel,
                                                         float* sums, int64_t sum_stride) {
  __m512 sum[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sum[r][0] = _mm512_load_ps(sums + r * sum_stride);
    sum[r][1] = _mm512_load_ps(sums + r * sum_stride + kLanes);
  }
  for (int64_t t = 0; t < pairs; ++t) {
    add_pair<kRows>(weights + t, stride, panel + t * kPanelWidth, sum);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    _mm512_store_ps(sums + r * sum_stride, sum[r][0]);
    _mm512_store_ps(sums + r * sum_stride + kLanes, sum[r][1]);
  }
}

const uint32_t* pairs_of(const BF16* numbers) {
  return reinterpret_cast<const uint32_t*>(numbers);
}

}  // namespace

bool has_bf16_dot() {
  // Under another target, as tests choose it, the machine is one without the instruction.
  static const bool on_machine = __builtin_cpu_supports("avx512bf16") != 0;
  return on_machine && active_simd_target().starts_with("AVX3");
}

void bf16_dots(const Bf16Rows& rows, float factor, const Panels& panels, int64_t first,
               int64_t count, float* out, int64_t out_stride) {
  const int64_t pairs = (panels.depth() + 1) / 2;
  const int64_t stride = rows.stride / 2;
  for (int64_t p = 0; p < count; ++p) {
    const uint32_t* panel = panels.pairs(first + p);
    for (int64_t done = 0; done < rows.count;) {
      const uint32_t* from = pairs_of(rows.data + done * rows.stride);
      float* to = out + done * out_stride + p * kPanelWidth;
      const int64_t left = rows.count - done;
      if (left >= kDotRows) {
        dot_rows<kDotRows>(from, stride, factor, pairs, panel, to, out_stride);
        done += kDotRows;
      } else if (left >= 2) {
        dot_rows<2>(from, stride, factor, pairs, panel, to, out_stride);
        done += 2;
      } else {
        dot_rows<1>(from, stride, factor, pairs, panel, to, out_stride);
        done += 1;
      }
    }
  }
}

[[gnu::target("avx512f,avx512bf16")]] void round_row_to_bf16(const float* from, int64_t count,
                                                             BF16* to) {
  for (int64_t c = 0; c < count; c += 2 * kLanes) {
    const __m512bh both =
        _mm512_cvtne2ps_pbh(_mm512_load_ps(from + c + kLanes), _mm512_load_ps(from + c));
    _mm512_store_si512(to + c, (__m512i)both);
  }
}

void add_bf16_weighted(const Bf16Rows& weights, const Panels& values, int64_t first, int64_t keys,
                       float* sums, int64_t sum_stride) {
  const int64_t pairs = (keys + 1) / 2;
  const int64_t stride = weights.stride / 2;
  for (int64_t column = 0; column < values.columns(); column += kPanelWidth) {
    const uint32_t* panel = values.pairs(column / kPanelWidth) + first / 2 * kPanelWidth;
    for (int64_t done = 0; done < weights.count;) {
      const uint32_t* from = pairs_of(weights.data + done * weights.stride);
      float* to = sums + done * sum_stride + column;
      const int64_t left = weights.count - done;
      if (left >= kWeightedRows) {
        weighted_rows<kWeightedRows>(from, stride, pairs, panel, to, sum_stride);
        done += kWeightedRows;
      } else if (left >= 4) {
        weighted_rows<4>(from, stride, pairs, panel, to, sum_stride);
        done += 4;
      } else {
        weighted_rows<1>(from, stride, pairs, panel, to, sum_stride);
        done += 1;
      }
    }
  }
}

}  // namespace fovea

#else  // another kind of processor: f32 attention is used

namespace fovea {

bool has_bf16_dot() {
  return false;
}
void bf16_dots(const Bf16Rows&, float, const Panels&, int64_t, int64_t, float*, int64_t) {
  FOVEA_ASSERT(false);
}
void round_row_to_bf16(const float*, int64_t, BF16*) {
  FOVEA_ASSERT(false);
}
void add_bf16_weighted(const Bf16Rows&, const Panels&, int64_t, int64_t, float*, int64_t) {
  FOVEA_ASSERT(false);
}

}  // namespace fovea

#endif
