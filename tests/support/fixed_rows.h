// What kernels/fixed_point.h makes of numbers, written down once more in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea::support {

// The smallest power of two in which the largest of `count` numbers, `step` apart, is at most
// 32,767 and their norm at most 46,000; 0 for zeros.
inline double fixed_unit_of(const float* numbers, int64_t count, int64_t step = 1) {
  double squares = 0, largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = numbers[i * step];
    squares += x * x;
    largest = std::max(largest, std::abs(x));
  }
  if (largest == 0) return 0;
  const double needed = std::max(std::sqrt(squares) / 46000, largest / 32767);
  return std::exp2(std::floor(std::log2(needed)) + 1);
}

inline void round_to_unit(float* numbers, int64_t count, int64_t step, double unit) {
  for (int64_t i = 0; i < count && unit > 0; ++i) {
    numbers[i * step] = static_cast<float>(std::nearbyint(numbers[i * step] / unit) * unit);
  }
}

// Every row of the last axis in a unit of its own.
inline Tensor fixed_rows(const Tensor& x) {
  Tensor result = x.clone();
  const MatrixView<float> rows = result.mutable_matrix<float>();
  for (int64_t r = 0; r < rows.rows; ++r) {
    round_to_unit(rows.row(r), rows.cols, 1, fixed_unit_of(rows.row(r), rows.cols));
  }
  return result;
}

// Every pixel of [batch, channels, height, width] in a unit of its own.
inline Tensor fixed_pixels(const Tensor& image) {
  Tensor result = image.clone();
  const int64_t channels = image.size(1), pixels = image.size(2) * image.size(3);
  for (int64_t batch = 0; batch < image.size(0); ++batch) {
    float* first = result.mutable_values<float>().data() + batch * channels * pixels;
    for (int64_t p = 0; p < pixels; ++p) {
      round_to_unit(first + p, channels, pixels, fixed_unit_of(first + p, channels, pixels));
    }
  }
  return result;
}

// Every output of [out, in, height, width] in the largest of the units of its taps.
inline Tensor fixed_kernels(const Tensor& weight) {
  Tensor result = weight.clone();
  const int64_t in = weight.size(1), taps = weight.size(2) * weight.size(3);
  for (int64_t out = 0; out < weight.size(0); ++out) {
    float* first = result.mutable_values<float>().data() + out * in * taps;
    double unit = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      unit = std::max(unit, fixed_unit_of(first + tap, in, taps));
    }
    round_to_unit(first, in * taps, 1, unit);
  }
  return result;
}

}  // namespace fovea::support
