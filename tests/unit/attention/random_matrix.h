// Random test matrices, the same in every run.
#pragma once

#include <cstdint>
#include <random>

#include "fovea/attention/matrix.h"

namespace fovea::support {

inline Matrix random_matrix(int64_t rows, int64_t cols, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Matrix matrix(rows, cols);
  for (int64_t r = 0; r < rows; ++r) {
    for (double& value : matrix.row(r)) value = normal(random);
  }
  return matrix;
}

inline std::vector<double> random_vector(int64_t size, std::mt19937& random) {
  const Matrix row = random_matrix(1, size, random);
  return {row.values().begin(), row.values().end()};
}

}  // namespace fovea::support
