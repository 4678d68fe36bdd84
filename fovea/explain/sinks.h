// Attention sinks (Gu et al. 2025, arXiv:2410.10781): positions that many heads look at whatever
// the text says. Usually it is the first one.
//
//   alpha(k) = mean of A(i, k) over the rows i that may see k; under a causal mask these are i >= k
//   a head has a sink at k if alpha(k) > threshold
//
// A mean of few rows says little: the last position's column has only one row, its own. So a
// position is judged only if kLeastLooks rows may see it; in short texts, half of all rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"

namespace fovea {

inline constexpr int64_t kLeastLooks = 8;

// One number per position.
struct Sinks {
  int64_t heads = 0;               // heads in all layers
  std::vector<int64_t> sink_in;    // heads that have a sink here
  std::vector<double> mass_share;  // share of all heads' attention

  double share(int64_t position) const;  // share of heads that have a sink here
  // The positions that are a sink in any head, most heads first.
  std::vector<int64_t> positions() const;
};

// One pass over every map, O(N) memory. Throws Error{kInvalidArgument} unless layers have the same
// columns and `threshold` is 0 to 1.
Sinks find_sinks(std::span<const std::shared_ptr<const AttentionRecord>> layers, double threshold);

// Massive activations (Sun et al. 2024, arXiv:2402.17762): a position's norm, divided by the median
// of all norms; 0 if the median is 0.
double times_median(std::span<const double> norms, int64_t position);

}  // namespace fovea
