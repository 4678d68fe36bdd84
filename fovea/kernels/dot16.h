// Products of 16-bit integers, two terms an instruction, on processors that can (AVX512_VNNI).
// Highway 1.0.3 has no operation for it, so this is the one file of intrinsics.
#pragma once

#include <cstdint>

#include "fovea/kernels/panels.h"

namespace fovea {

// Whether the active SIMD target has the instruction; i16_dots needs it.
bool has_i16_dot();

// A few rows of integers. `stride`, in numbers, is even; so is what is read of a row.
struct I16Rows {
  const int16_t* data;
  int64_t stride;
  int64_t count;
  const float* units;  // one for each row: what its integers are counted in
  int64_t unit_step = 1;
};
// kPanelWidth columns of `pairs` pairs of integers each, laid out as in Panels.
struct I16Panel {
  const uint32_t* data;
  int64_t pairs;
  const float* units;  // one for each column
};

// What the sums of row r begin with: from[r * step + c] for column c. Rows may share them (step 0).
struct I16Start {
  const float* from;
  int64_t step = 0;
};

// out[r][c] = start + unit of r * unit of c * (rows[r] . column c), for rows of 32 numbers that are
// 64-byte aligned. Integers are added up without rounding; their sums must fit 32 bits
// (fixed_point.h). Rows may start from `out` itself.
void i16_dots(const I16Rows& rows, const I16Panel& panel, const I16Start& start, float* out,
              int64_t out_step);

}  // namespace fovea
