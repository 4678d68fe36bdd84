// Products of bf16 numbers with f32 sums, two terms an instruction, on processors that can
// (AVX512_BF16). Highway 1.0.3 has no operation for it, so this is the one file of intrinsics.
#pragma once

#include <cstdint>

#include "fovea/kernels/panels.h"

namespace fovea {

// Whether the active SIMD target has the instruction; the functions below need it.
bool has_bf16_dot();

// A few rows of bf16 numbers. `stride`, in numbers, is even; so is what is read of a row.
struct Bf16Rows {
  const BF16* data;
  int64_t stride;
  int64_t count;
};

// out[r][c] = factor * rows[r] . panel column c, for `count` panels from `first` on. The panels are
// BF16. An odd number of terms is filled up with a zero in `rows`. Rows of `out` are 64-byte
// aligned.
void bf16_dots(const Bf16Rows& rows, float factor, const Panels& panels, int64_t first,
               int64_t count, float* out, int64_t out_stride);

// Rounds to nearest even. `count` is a multiple of 32, both arrays are 64-byte aligned.
void round_row_to_bf16(const float* from, int64_t count, BF16* to);

// sums[r][c] += sum over `keys` keys from the even key `first` on of weights[r][key] *
// values[key][c]. Weights of an odd number of keys are filled up with a zero. Rows of `sums` are
// 64-byte aligned and whole panels wide.
void add_bf16_weighted(const Bf16Rows& weights, const Panels& values, int64_t first, int64_t keys,
                       float* sums, int64_t sum_stride);

}  // namespace fovea
