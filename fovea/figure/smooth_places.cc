#include "fovea/figure/smooth_places.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/figure/color_axis.h"

namespace fovea {
namespace {

// How much the four cells around a point count that lies `t` behind the second of them.
std::array<double, 4> cubic_weights(double t) {
  return {((-0.5 * t + 1) * t - 0.5) * t, (1.5 * t - 2.5) * t * t + 1,
          ((-1.5 * t + 2) * t + 0.5) * t, (0.5 * t - 0.5) * t * t};
}

}  // namespace

SmoothPlaces::SmoothPlaces(MatrixView<const float> weights, const ColorScale& scale)
    : rows_(weights.rows), cols_(weights.cols) {
  const double none = scale.is_signed() ? 0.5 : 0;
  for (int64_t r = 0; r < rows_; ++r) {
    for (int64_t c = 0; c < cols_; ++c) {
      const auto value = double{weights(r, c)};
      places_.push_back(std::isnan(value) ? none : std::clamp(place_on(scale, value), 0.0, 1.0));
    }
  }
}

double SmoothPlaces::at(double row, double col) const {
  const double top = std::floor(row - 0.5), left = std::floor(col - 0.5);
  const auto down = cubic_weights(row - 0.5 - top), right = cubic_weights(col - 0.5 - left);
  double sum = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t r = std::clamp<int64_t>(static_cast<int64_t>(top) - 1 + i, 0, rows_ - 1);
    for (int64_t j = 0; j < 4; ++j) {
      const int64_t c = std::clamp<int64_t>(static_cast<int64_t>(left) - 1 + j, 0, cols_ - 1);
      sum += down[static_cast<size_t>(i)] * right[static_cast<size_t>(j)] *
             places_[static_cast<size_t>(r * cols_ + c)];
    }
  }
  return std::clamp(sum, 0.0, 1.0);
}

}  // namespace fovea
