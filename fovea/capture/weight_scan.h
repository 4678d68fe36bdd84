// One look at all numbers of weights that another program made.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/tensor/tensor.h"

namespace fovea {

// How far a row's sum may be from 1, by what its numbers are rounded to.
double sum_tolerance(DType dtype);

struct WeightScan {
  int64_t rows = 0;     // of all heads
  int64_t not_one = 0;  // those whose sum is further from 1 than sum_tolerance()
  double least_sum = 0;
  double most_sum = 0;
  float largest = 0;  // of all weights
  // In a square map every weight above the diagonal is 0, in every head.
  bool zero_above = false;

  void add(const WeightScan& other);
};

// Of weights [heads, rows, cols], F32, F16, BF16 or F64. Throws Error{kBadFile} that names the
// first number, row by row, that is negative, NaN or not finite in f32; messages begin with `name`.
WeightScan scan_weights(const Tensor& weights, std::string_view name);

}  // namespace fovea
