// What the steps of a generation leave behind at every site: keys and values for the steps to come,
// and queries and log-sum-exps, which make one causal map of all steps. A search follows several
// hypotheses at once, each with a past of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/capture/recorder.h"
#include "fovea/kernels/attention.h"
#include "fovea/ops/tape.h"

namespace fovea {

// For one thread. Memory grows in steps, O(tokens * width) for each hypothesis.
class AttentionCache {
 public:
  // How many positions the steps so far have brought to each hypothesis.
  int64_t length() const { return length_; }
  // Called by the model once a step is through all its layers.
  void advance(int64_t positions) { length_ += positions; }

  // One at the beginning.
  int64_t hypotheses() const { return hypotheses_; }
  // From now on there are as many hypotheses as parents; number h goes on from what parents[h] has
  // seen.
  void branch(std::span<const int64_t> parents);

  // Adds the step's keys and values [kv_heads, n, ..] and attends from its queries [heads, n, ..]
  // to everything so far: with several hypotheses, n / hypotheses() rows for each in turn, which
  // see its own past only. `rule` is that of one hypothesis's step: its mask begins at length().
  // Returns the head outputs [heads, n, value_dim].
  Tensor attend(SiteId site, const Tensor& queries, const Tensor& keys, const Tensor& values,
                const ScoreRule& rule);

  // Keys and values of something that no step changes, an encoder's states: made once for each
  // site, the same for all hypotheses.
  struct Memory {
    Value keys, values;
  };
  const Memory& memory(SiteId site, const std::function<Memory()>& make);

  // One record per site over all steps, as if the whole had been run at once, without outputs and
  // blocks, which the steps do not keep. Its columns are the axis "tokens", its rows `row_axis`.
  // Of the first hypothesis.
  void record_into(Recorder& recorder, const std::string& row_axis) const;

 private:
  // [heads, capacity, dim] of which the first `rows` rows of each head are filled.
  template <typename T>
  struct Rows {
    int64_t heads = 0, dim = 0, rows = 0, capacity = 0;
    std::vector<T> data;

    // Rows [begin, begin + count) of each head of `more`.
    void append(const Tensor& more, int64_t begin, int64_t count);
    Tensor tensor() const;  // [heads, rows, dim]
    HeadsView view() const;
  };
  struct Past {
    Rows<float> queries, keys, values;
    Rows<double> lse;
  };
  struct Entry {
    std::vector<Past> pasts;  // one per hypothesis
    ScoreRule rule;           // of the last step
  };
  std::map<SiteId, Entry> entries_;
  std::map<SiteId, Memory> memories_;
  int64_t length_ = 0;
  int64_t hypotheses_ = 1;
};

}  // namespace fovea
