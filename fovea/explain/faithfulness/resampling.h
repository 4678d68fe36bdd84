// Numbers drawn at random, the same for the same seed on every machine, and what they are good for:
// random explanations and intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

// SplitMix64.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t next();
  double uniform();             // from 0, below 1
  size_t below(size_t count) {  // `count` is far below 2^64, so that nobody is preferred
    return static_cast<size_t>(next() % count);
  }

 private:
  uint64_t state_;
};

struct Interval {
  double mean = 0;
  double low = 0;  // 95 % lie from here
  double high = 0;
};

// The q-th quantile, 0 to 1, between the two numbers nearest to it (numpy's "linear"). NaN of none.
double quantile(std::span<const double> values, double q);

// Mean and the middle 95 % of the numbers themselves.
Interval spread_of(std::span<const double> values);

// Mean and where it would lie in 95 % of other samples of the same size: the percentile bootstrap
// over `resamples` draws with replacement.
Interval bootstrap_mean(std::span<const double> values, int64_t resamples, uint64_t seed);

}  // namespace fovea
