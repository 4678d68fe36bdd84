// Comparing float results with a reference in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea::support {

inline std::vector<double> to_doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}
inline std::vector<double> to_doubles(const Tensor& tensor) {
  return to_doubles(tensor.values<float>());
}

// Every |actual - expected| <= absolute + relative * |expected|. NaN and infinity match themselves.
inline ::testing::AssertionResult all_close(std::span<const float> actual,
                                            std::span<const double> expected, double absolute,
                                            double relative = 0) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << actual.size() << " values, expected " << expected.size();
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const double value = actual[i];
    if (value == expected[i] || (std::isnan(value) && std::isnan(expected[i]))) continue;
    const double bound = absolute + relative * std::abs(expected[i]);
    if (!(std::abs(value - expected[i]) <= bound)) {
      return ::testing::AssertionFailure()
             << "value " << i << " of " << actual.size() << " is " << value << ", expected "
             << expected[i] << " within " << bound << ", off by " << value - expected[i];
    }
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult all_close(const Tensor& actual, std::span<const double> expected,
                                            double absolute, double relative = 0) {
  return all_close(actual.values<float>(), expected, absolute, relative);
}

inline double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace fovea::support
