// One head's attention matrix, never stored whole: any part of it is computed from the record on
// demand, exactly, on all threads, in O(N d) memory. If the record holds weights, they are read.
//
//   A(i, j) = exp(s(i, j) - LSE(i)): row i is a query, column j a key. A row sums to 1 (0 if it
//   sees no key, less than 1 under a sink logit, whatever it is where weights are read); a column
//   sums to whatever it receives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/atlas/head_source.h"
#include "fovea/capture/attention_record.h"
#include "fovea/kernels/attention.h"

namespace fovea {

// Rows [row_begin, row_end) and columns [col_begin, col_end).
struct Region {
  int64_t row_begin = 0;
  int64_t row_end = 0;
  int64_t col_begin = 0;
  int64_t col_end = 0;

  int64_t rows() const { return row_end - row_begin; }
  int64_t cols() const { return col_end - col_begin; }
};

struct ColumnWeight {
  int64_t column = 0;
  float weight = 0;

  bool operator==(const ColumnWeight&) const = default;
};

// The blocks of `bin` cells that hold `cells`; the last may be smaller.
inline int64_t blocks_of(int64_t cells, int64_t bin) {
  return (cells + bin - 1) / bin;
}

// The maximum and the sum of A in each block of bin x bin cells, and how many cells the mask
// allows. Blocks at the lower and right edge may be smaller.
struct PooledTile {
  Tensor max;    // f32 [block rows, block cols]
  Tensor sum;    // f32
  Tensor count;  // i64

  Tensor mean() const;  // f32: sum / count over allowed cells, 0 where there are none
};

// What a few rows of a block say about the block. Rows that were not read leave no trace: a single
// bright one may be missing from all three numbers.
struct SampledTile {
  Tensor max;  // f32 [block rows, block cols]: of the rows that were read, never above the true one
  Tensor sum;  // f32: the block's sum, estimated without bias
  Tensor error;  // f32: the standard error of `sum`, estimated from how much the rows differ
};

// Copies share the record. All members may be called from any thread, and throw
// Error{kInvalidArgument} on a row, column or region outside the map and Error{kCancelled} when
// the scope they are called in is cancelled.
class AttentionMap {
 public:
  // Throws Error{kInvalidArgument} if the record has no such head. The record must be valid.
  AttentionMap(std::shared_ptr<const AttentionRecord> record, int64_t head);

  int64_t rows() const { return shape_.rows; }
  int64_t cols() const { return shape_.cols; }
  int64_t head() const { return head_; }
  const AttentionRecord& record() const { return *record_; }
  Region whole() const { return {0, rows(), 0, cols()}; }

  float cell(int64_t row, int64_t column) const;
  std::vector<float> row(int64_t index) const;
  std::vector<float> column(int64_t index) const;
  // Cost: area * head_dim.
  Tensor tile(Region region) const;
  void tile(Region region, MatrixView<float> out) const;
  // s(i, j), what softmax takes: scale, bias and cap are in it. -infinity where nothing may be
  // seen. Throws Error{kUnsupported} for weights that are read.
  Tensor score_tile(Region region) const;
  // The `count` largest weights of a row, largest first; equal ones by column.
  std::vector<ColumnWeight> row_top(int64_t index, int64_t count) const;

  // Pooled over bin x bin blocks that begin at the region's corner.
  PooledTile pooled(Region region, int64_t bin) const;
  // The same from `rows_per_block` rows of each block, with all their keys: a first look that costs
  // rows_per_block / bin of pooled(). A block's rows are cut into that many runs, and one row of
  // each is read. `seed` draws which, so the same call gives the same tile. Blocks of that many
  // rows or fewer are exact, with error 0.
  SampledTile sampled(Region region, int64_t bin, int64_t rows_per_block, uint64_t seed = 0) const;
  // How many cells of each block the mask allows, i64 [block rows, block cols].
  Tensor allowed(Region region, int64_t bin) const;

  // c_j = sum_i weights[i] * A(i, j); rows of weight 0 cost nothing.
  std::vector<double> times_left(std::span<const double> weights) const;
  // The attention that each column receives in all; times_left of ones.
  std::vector<double> column_sums() const;
  // (A X) for X [cols, features], f32.
  Tensor times_right(const Tensor& x) const;
  // -sum_j A(i, j) log A(i, j) of every row, in nats.
  std::vector<double> entropy() const;

  // dy/dA(i, j) = dO_i . V_j. Throws Error{kInvalidArgument} if the record has no gradient or
  // no values.
  Tensor gradient_tile(Region region) const;

 private:
  void check(Region region) const;
  // The keys that any of the rows may see by the mask's range.
  KeyRange visible(int64_t row_begin, int64_t row_end) const;

  std::shared_ptr<const AttentionRecord> record_;
  int64_t head_;
  AttentionShape shape_;
  HeadSource source_;
};

// How many cells of each block the record's mask allows, i64 [block rows, block cols].
Tensor allowed_cells(const AttentionRecord& record, Region region, int64_t bin);

// The record in the form that kernels read. The record must outlive the value. Throws
// Error{kUnsupported} for one of weights.
AttentionInputs inputs_of(const AttentionRecord& record);

}  // namespace fovea
