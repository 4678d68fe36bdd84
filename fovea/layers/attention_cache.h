// What a generation keeps at every site from step to step: keys and values, which later steps
// attend to, and queries and log-sum-exps, which make one causal map of all steps. A search follows
// several hypotheses at once; each has its own past.
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
  // How many positions each hypothesis has so far.
  int64_t length() const { return length_; }
  // Called by the model once a step is through all its layers.
  void advance(int64_t positions) { length_ += positions; }

  // How many hypotheses there are; one at the beginning.
  int64_t hypotheses() const { return hypotheses_; }
  // Continues with as many hypotheses as `parents` has entries. Hypothesis h continues from the
  // past of parents[h].
  void branch(std::span<const int64_t> parents);

  // Adds the step's keys and values [kv_heads, n, ..] and attends from its queries [heads, n, ..]
  // to everything so far. Each hypothesis has n / hypotheses() of these rows, one hypothesis after
  // the other, and sees only its own past. `rule` is for the step of one hypothesis: its mask
  // begins at length(). Returns the head outputs [heads, n, value_dim].
  Tensor attend(SiteId site, const Tensor& queries, const Tensor& keys, const Tensor& values,
                const ScoreRule& rule);

  // Keys and values that no step changes: those of an encoder's states. They are made once for each
  // site, and all hypotheses share them.
  struct Memory {
    Value keys, values;
  };
  const Memory& memory(SiteId site, const std::function<Memory()>& make);

  // Makes one record per site over all steps of the first hypothesis, as if the whole text had been
  // run at once. It has no outputs and blocks: the steps do not keep them. Its columns run along
  // "tokens", its rows along `row_axis`.
  void record_into(Recorder& recorder, const std::string& row_axis) const;

 private:
  // [heads, capacity, dim]; the first `rows` rows of each head are filled.
  template <typename T>
  struct Rows {
    int64_t heads = 0, dim = 0, rows = 0, capacity = 0;
    std::vector<T> data;

    // Appends rows [begin, begin + count) of each head of `more`.
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
    ScoreRule rule;           // the last step's
  };
  std::map<SiteId, Entry> entries_;
  std::map<SiteId, Memory> memories_;
  int64_t length_ = 0;
  int64_t hypotheses_ = 1;
};

}  // namespace fovea
