// Draws random numbers, the same for a seed on every machine, and makes intervals with them.
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
  size_t below(size_t count) {  // `count` is far below 2^64, so the choice is fair
    return static_cast<size_t>(next() % count);
  }

 private:
  uint64_t state_;
};

struct Interval {
  double mean = 0;
  double low = 0;  // the middle 95 % begin here
  double high = 0;
};

// The q-th quantile, q from 0 to 1, interpolated between the two nearest numbers (numpy's
// "linear"). NaN if there are none.
double quantile(std::span<const double> values, double q);

// The mean and the middle 95 % of the numbers themselves.
Interval spread_of(std::span<const double> values);

// The mean, and where it would lie for 95 % of other samples of the same size: the percentile
// bootstrap with `resamples` draws with replacement.
Interval bootstrap_mean(std::span<const double> values, int64_t resamples, uint64_t seed);

}  // namespace fovea
