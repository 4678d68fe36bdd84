#include "fovea/attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

void check(std::span<const double> scores, double temperature) {
  if (!std::isfinite(temperature) || temperature < 0) {
    fail(ErrorKind::kInvalidArgument, "the temperature is {}; it must be 0 (hard) or above",
         temperature);
  }
  for (const double value : scores) {
    if (std::isnan(value) || value > std::numeric_limits<double>::max()) {
      fail(ErrorKind::kInvalidArgument,
           "a score is {}; softmax needs finite scores, or -infinity where masked", value);
    }
  }
}

}  // namespace

std::vector<double> softmax(std::span<const double> scores, double temperature) {
  check(scores, temperature);
  std::vector<double> weights(scores.size(), 0.0);
  const auto largest = std::ranges::max_element(scores);
  if (largest == scores.end() || *largest == kMasked) return weights;
  if (temperature == 0) {
    weights[static_cast<size_t>(largest - scores.begin())] = 1;
    return weights;
  }
  double sum = 0;
  for (size_t j = 0; j < scores.size(); ++j) {
    weights[j] = std::exp((scores[j] - *largest) / temperature);
    sum += weights[j];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Matrix softmax_rows(const Matrix& scores, double temperature) {
  check(scores.values(), temperature);
  const auto rows = static_cast<size_t>(scores.rows());
  std::vector<double> largest(rows, kMasked);
  std::vector<int64_t> place(rows, 0);
  for (int64_t c = 0; c < scores.cols(); ++c) {
    for (size_t r = 0; r < rows; ++r) {
      if (scores(static_cast<int64_t>(r), c) > largest[r]) {
        largest[r] = scores(static_cast<int64_t>(r), c);
        place[r] = c;
      }
    }
  }
  Matrix weights(scores.rows(), scores.cols());
  std::vector<double> sums(rows, 0.0);
  for (int64_t c = 0; c < scores.cols(); ++c) {
    for (size_t r = 0; r < rows; ++r) {
      const auto row = static_cast<int64_t>(r);
      if (largest[r] == kMasked) continue;
      weights(row, c) = temperature == 0 ? (place[r] == c ? 1.0 : 0.0)
                                         : std::exp((scores(row, c) - largest[r]) / temperature);
      sums[r] += weights(row, c);
    }
  }
  for (int64_t r = 0; r < scores.rows(); ++r) {
    if (largest[static_cast<size_t>(r)] == kMasked) continue;
    for (double& weight : weights.row(r)) weight /= sums[static_cast<size_t>(r)];
  }
  return weights;
}

}  // namespace fovea
