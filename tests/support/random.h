// Seeded random numbers for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea::support {

// Normally distributed, mean 0.
inline std::vector<float> random_floats(int64_t count, uint64_t seed, float deviation = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = distribution(engine);
  return values;
}

inline Tensor random_tensor(Shape shape, uint64_t seed, float deviation = 1) {
  const std::vector<float> values = random_floats(shape.elements(), seed, deviation);
  return Tensor::from<float>(std::move(shape), values);
}

}  // namespace fovea::support
