// Rows of numbers as 16-bit integers, counted in a power of two that a row shares. Products of
// 16-bit integers run at the rate of bf16 ones, twice that of f32, and their sums are exact.
//
// Integers and their squares' sum are kept so small that no sum of products leaves 32 bits: |a . b|
// <= |a| |b| < 2^31 (Cauchy and Schwarz), also for every part of the sum, whatever the number of
// terms. What rounding then changes in a . b is about 6e-6 |a| |b|, where bf16 changes each term by
// up to 4e-3 of it: with 768 terms of one size, a sixth of bf16's error (docs/adr/0015).
#pragma once

#include <cstdint>

#include "fovea/kernels/dot16.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What products are done in where `wanted`, F32 or I16, is asked for: F32, with a line logged,
// where the processor has no instruction for the other. Throws Error{kInvalidArgument} for another
// type.
DType usable_compute_dtype(DType wanted);

// Euclidean norm and largest magnitude of some numbers.
struct RowSize {
  double norm = 0;
  double largest = 0;
};
RowSize row_size(const float* row, int64_t count);

// The power of two that rows of this size are counted in: 0 for zeros, NaN where a number is not
// finite.
float fixed_unit(RowSize size);

// to[i] = from[i] / unit, rounded to nearest; zeros where the unit is 0 or NaN.
void fix_row(const float* from, int64_t count, float unit, int16_t* to);

// Rounds numbers to multiples of a unit that fits their size with room to spare: whoever makes
// integers of them again finds a unit no larger, and rounds nothing. One unit for all rows of the
// matrix, or one for each.
void round_to_common_unit(MatrixView<float> rows);
void round_to_units(MatrixView<float> rows);
// Rounds each row to multiples of its own unit, as FixedRows does, in the calling thread.
void round_to_fixed_units(MatrixView<float> rows);

// Rows of integers for i16_dots, each with its unit; filled up with zeros to an even number.
class FixedRows {
 public:
  FixedRows(int64_t rows, int64_t depth);  // not yet written

  void set(int64_t row, const float* from);
  // `count` rows from `row` on, as the pixels of an image lie: those of one group of 16 numbers
  // side by side, groups `group_step` apart, the last one filled up with zeros.
  void set_grouped(int64_t row, int64_t count, const float* from, int64_t group_step);
  void set_zero(int64_t row);
  // `count` rows from `first` on, of which each is `step` after the one before.
  I16Rows view(int64_t first, int64_t count, int64_t step = 1) const;

 private:
  int64_t depth_;
  int64_t stride_;
  Tensor numbers_;  // I16
  Tensor units_;    // F32
  int16_t* data_;   // of both: asking a tensor each time costs 2 % of a ResNet
  float* unit_data_;
};

}  // namespace fovea
