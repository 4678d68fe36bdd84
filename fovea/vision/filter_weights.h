// How each sample of a resized row is made from the source's samples; for resize.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/vision/resize.h"

namespace fovea {

// Target sample i is the sum over k < count[i] of weights[i * taps + k] * source[first[i] + k].
// Both first and first + count never fall from one target to the next.
struct FilterWeights {
  int64_t taps = 0;  // the most that any target takes
  std::vector<int64_t> first;
  std::vector<int64_t> count;
  std::vector<double> weights;  // each target's sum to 1

  int64_t targets() const { return static_cast<int64_t>(first.size()); }
};

// Antialiased: a filter is stretched by source / target where the picture shrinks. `filter` must
// not be kNearest.
FilterWeights filter_weights(int64_t source, int64_t target, ResizeFilter filter);

// The same in fixed point: weight / 2^precision.
struct RoundedFilters {
  int64_t taps = 0;
  int precision = 0;
  std::vector<int64_t> first;
  std::vector<int64_t> count;
  std::vector<int32_t> weights;

  int64_t targets() const { return static_cast<int64_t>(first.size()); }
};

RoundedFilters fixed_weights(FilterWeights exact, ResizeRule rule);

// Which source sample each target sample copies.
std::vector<int64_t> nearest_sources(int64_t source, int64_t target, ResizeRule rule);

}  // namespace fovea
