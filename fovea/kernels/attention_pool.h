// One head's weights drawn together without being stored: scores, exp and the fold in one pass,
// with the arithmetic of attention_tile.h.
#pragma once

#include <span>

#include "fovea/kernels/attention.h"
#include "fovea/kernels/head_rule.h"
#include "fovea/kernels/panels.h"
#include "fovea/kernels/score_bound.h"

namespace fovea {

// The columns [columns.begin, columns.end) of one head, in blocks of `bin` from the first on.
// Making it costs one pass over these keys. Const members may be called from any thread; each runs
// on the calling thread alone.
//
// Keys that no row may see cost nothing, nor do 256 keys whose weights ScoreBound proves to be 0 in
// f32: leaving them out changes no bit of a result.
class HeadPools {
 public:
  // `inputs` must have passed validate() and, like its rule, must outlive the object.
  HeadPools(const AttentionInputs& inputs, int64_t head, KeyRange columns);
  HeadPools(const HeadPools&) = delete;
  HeadPools& operator=(const HeadPools&) = delete;

  KeyRange columns() const { return rule_.columns; }

  // Blocks of bin x bin cells, the rows counted from `row` on, one row per LSE:
  // max(r / bin, c / bin) takes the larger of itself and A, sum(r / bin, c / bin) += A.
  void add_blocks(int64_t row, std::span<const double> lse, int64_t bin, MatrixView<float> max,
                  MatrixView<double> sum) const;
  // The same of each column alone: max(r / bin, c) and sum(r / bin, c), c from the first column on.
  void add_columns(int64_t row, std::span<const double> lse, int64_t bin, MatrixView<float> max,
                   MatrixView<float> sum) const;
  // As add_blocks() for any rows, each on its own: max(r, c / bin) and sum(r, c / bin) of rows[r].
  void add_rows(std::span<const int64_t> rows, std::span<const double> lse, int64_t bin,
                MatrixView<float> max, MatrixView<double> sum) const;

 private:
  HeadRule rule_;
  Panels keys_;
  ScoreBound bound_;
};

}  // namespace fovea
