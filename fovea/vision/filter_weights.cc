#include "fovea/vision/filter_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double half_width(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::kLanczos:
      return 3;
    case ResizeFilter::kBicubic:
      return 2;
    case ResizeFilter::kBox:
      return 0.5;
    case ResizeFilter::kBilinear:
    case ResizeFilter::kHamming:
    case ResizeFilter::kNearest:
      break;
  }
  return 1;
}

// The cubic convolution kernel of Keys (1981) with a = -1/2, as Pillow and antialiased torch use.
double bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

double filter_value(ResizeFilter filter, double x) {
  switch (filter) {
    case ResizeFilter::kBox:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case ResizeFilter::kBilinear:
      return std::max(0.0, 1 - std::abs(x));
    case ResizeFilter::kHamming:
      return std::abs(x) >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x));
    case ResizeFilter::kBicubic:
      return bicubic(x);
    case ResizeFilter::kLanczos:
      return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case ResizeFilter::kNearest:
      break;
  }
  return 0;
}

// Pillow keeps 8 bits for the pixel and 2 for sums that overshoot.
constexpr int kPillowPrecision = 32 - 8 - 2;

// Torch keeps weights in 16 bits: as many binary places as the largest leaves room for.
int torch_precision(const std::vector<double>& weights) {
  const double largest = *std::ranges::max_element(weights);
  int precision = 0;
  while (precision < 22 && static_cast<int>(0.5 + largest * (1 << (precision + 1))) < 1 << 15) {
    ++precision;
  }
  return precision;
}

}  // namespace

FilterWeights filter_weights(int64_t source, int64_t target, ResizeFilter filter) {
  FOVEA_ASSERT(source >= 1 && target >= 1 && filter != ResizeFilter::kNearest);
  const double scale = static_cast<double>(source) / static_cast<double>(target);
  const double stretch = std::max(scale, 1.0);
  const double support = half_width(filter) * stretch;
  FilterWeights result;
  result.taps = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  result.weights.resize(static_cast<size_t>(target * result.taps));
  for (int64_t i = 0; i < target; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const auto last = std::min(static_cast<int64_t>(center + support + 0.5), source);
    double* weights = result.weights.data() + i * result.taps;
    double sum = 0;
    for (int64_t k = 0; k < last - first; ++k) {
      weights[k] =
          filter_value(filter, (static_cast<double>(k + first) - center + 0.5) * (1.0 / stretch));
      sum += weights[k];
    }
    for (int64_t k = 0; k < last - first && sum != 0; ++k) weights[k] /= sum;
    result.first.push_back(first);
    result.count.push_back(last - first);
  }
  return result;
}

RoundedFilters fixed_weights(FilterWeights exact, ResizeRule rule) {
  RoundedFilters fixed;
  fixed.taps = exact.taps;
  fixed.precision = rule == ResizeRule::kPillow ? kPillowPrecision : torch_precision(exact.weights);
  fixed.first = std::move(exact.first);
  fixed.count = std::move(exact.count);
  fixed.weights.reserve(exact.weights.size());
  for (const double weight : exact.weights) {
    const double scaled = weight * (1 << fixed.precision);
    fixed.weights.push_back(static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
  }
  return fixed;
}

std::vector<int64_t> nearest_sources(int64_t source, int64_t target, ResizeRule rule) {
  std::vector<int64_t> sources;
  sources.reserve(static_cast<size_t>(target));
  const double step = static_cast<double>(source) / static_cast<double>(target);
  double position = step * 0.5;  // added up, not multiplied, as Pillow does
  for (int64_t i = 0; i < target; ++i, position += step) {
    const auto torch_step = static_cast<float>(step);
    const double place = rule == ResizeRule::kPillow
                             ? position
                             : static_cast<double>((static_cast<float>(i) + 0.5F) * torch_step);
    sources.push_back(std::min(static_cast<int64_t>(place), source - 1));
  }
  return sources;
}

}  // namespace fovea
