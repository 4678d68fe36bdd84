// What the steps of a generation leave behind at every site: keys and values for the steps to come,
// and queries and log-sum-exps, which make one causal map of all steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fovea/capture/recorder.h"
#include "fovea/kernels/attention.h"

namespace fovea {

// For one thread. Memory grows in steps, O(tokens * width) in all.
class AttentionCache {
 public:
  // How many positions the steps so far have brought.
  int64_t length() const { return length_; }
  // Called by the model once a step is through all its layers.
  void advance(int64_t positions) { length_ += positions; }

  // Adds the step's keys and values [kv_heads, n, ..] and attends from its queries [heads, n, ..]
  // to everything so far. `rule` is that of the step: its mask begins at length(). Returns the head
  // outputs [heads, n, value_dim].
  Tensor attend(SiteId site, const Tensor& queries, const Tensor& keys, const Tensor& values,
                const ScoreRule& rule);

  // One record per site over all steps, as if the whole had been run at once, without outputs and
  // blocks, which the steps do not keep. Its columns are the
  // axis "tokens", its rows `row_axis`.
  void record_into(Recorder& recorder, const std::string& row_axis) const;

 private:
  // [heads, capacity, dim] of which the first `rows` rows of each head are filled.
  template <typename T>
  struct Rows {
    int64_t heads = 0, dim = 0, rows = 0, capacity = 0;
    std::vector<T> data;

    void append(const Tensor& more);
    Tensor tensor() const;  // [heads, rows, dim]
    HeadsView view() const;
  };
  struct Entry {
    Rows<float> queries, keys, values;
    Rows<double> lse;
    ScoreRule rule;
  };
  std::map<SiteId, Entry> entries_;
  int64_t length_ = 0;
};

}  // namespace fovea
