// Multiplies rows of 16-bit integers (fixed_point.h) with packed weights. The weights belong to a
// linear layer, or to a convolution: each tap is such a product with the rows of other pixels.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/kernels/activation.h"
#include "fovea/kernels/fixed_point.h"

namespace fovea {

// Weights in panels of 32 columns, each column counted in a unit of its own.
class FixedWeights {
 public:
  // `columns` outputs, each of `taps` times `depth` numbers, which read(column, to) gives.
  FixedWeights(int64_t columns, int64_t taps, int64_t depth,
               const std::function<void(int64_t column, float* to)>& read);

  int64_t columns() const { return columns_; }
  int64_t depth() const { return depth_; }
  int64_t panels() const { return (columns_ + kPanelWidth - 1) / kPanelWidth; }
  I16Panel panel(int64_t index, int64_t tap) const;
  size_t bytes() const { return numbers_.bytes() + units_.bytes(); }
  // The taps times depth numbers of a column, as rounded.
  void read(int64_t column, float* to) const;

 private:
  int64_t columns_, taps_, depth_;
  Tensor numbers_;  // U32 [panels, taps, pairs, 32]
  Tensor units_;    // F32 [panels * 32], 0 beyond the last column
  const uint32_t* data_;
  const float* unit_data_;
};

// Which rows meet the weights: runs of rows that are `row_step` apart, such as the pixels of a line
// that a convolution visits. Tap t of a row is the row taps[t] after it.
struct FixedRuns {
  int64_t runs = 1;
  int64_t length = 0;    // rows of one run
  int64_t run_step = 0;  // rows from the beginning of one run to that of the next
  int64_t row_step = 1;
  std::vector<int64_t> taps{0};
};

// Where results go, and what is done with them first: activation(product + bias), then plus
// `residual`, then max(0, .) if `relu`. Columns lie in groups of 16 that are `group_step` apart;
// the residual lies likewise.
struct FixedOutput {
  std::span<const float> bias;  // one for each column, or empty
  Activation activation = Activation::kNone;
  const float* residual = nullptr;  // or none; may be `data`
  int64_t residual_row_step = 0;
  bool relu = false;
  float* data = nullptr;
  int64_t row_step = 0;
  int64_t group_step = 16;
  bool whole_groups = false;  // the last group is filled up, with zeros
};

// One row of results for every row of every run, in order. Uses all threads.
void fixed_products(const FixedRows& rows, const FixedRuns& runs, const FixedWeights& weights,
                    const FixedOutput& output);

// The same for one run of `rows` rows next to each other, of which each is needed once:
// set(to, first, count) makes integers of rows [first, first + count) in `to`, from its row 0 on,
// from any thread. They are made where they are used and never leave that core's cache, which pays
// where rows are many and short: the pixels of an image.
void fixed_products(int64_t rows, const FixedWeights& weights, const FixedOutput& output,
                    const std::function<void(FixedRows& to, int64_t first, int64_t count)>& set);

}  // namespace fovea
