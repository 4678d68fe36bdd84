// Writes a block of attention as a sum of vectors (Kobayashi et al. 2020 and 2021, arXiv:2004.10102
// and arXiv:2109.07152):
//
//   y_i = sum_j T_ij + r_i + c_i     T_ij = s_i sum_h A_h(i, j) g_h(j),   from position j
//                                    r_i from the residual, c_i from biases, of no position
//   f_h(j) = v_j W_O^h               the value, its bias in it, through the head's part of W_O
//
//   attention:   g = f                        s = 1           r = 0     c = b_O
//   residual:    the same with r_i = x_i
//   norm:        g = gamma (f - mean f)       s_i = 1/sigma_i           of the norm over the sum,
//                r_i = s_i gamma (x_i - mean x_i)                       whose sigma_i is held fixed
//                c_i = s_i gamma (b_O - mean b_O) + beta                RMS norm: no mean, no beta
//
// If a norm stands before the residual (Gemma), it belongs to "residual" already: g, s and c are as
// in "norm", sigma_i is that of attention's result, and r_i = x_i. Pre-norm blocks have no norm
// left for "norm".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/names.h"

namespace fovea {

enum class BlockExtent { kAttention, kResidual, kNorm };

inline constexpr NameTable<BlockExtent, 3> kBlockExtents{"part of a block",
                                                         {{BlockExtent::kAttention, "attention"},
                                                          {BlockExtent::kResidual, "residual"},
                                                          {BlockExtent::kNorm, "norm"}}};

// Rows [begin, end) of a record.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

class BlockSum {
 public:
  // Throws Error{kInvalidArgument} if the record was captured without values or block, or if this
  // is a self-attention whose rows and columns differ, so that no column is the residual's. Memory:
  // the rows times the width.
  BlockSum(std::shared_ptr<const AttentionRecord> record, BlockExtent extent, RowRange rows);

  const AttentionRecord& record() const { return *record_; }
  const std::vector<AttentionMap>& maps() const { return maps_; }  // by head
  RowRange rows() const { return rows_; }
  int64_t cols() const { return shape_.cols; }
  int64_t heads() const { return shape_.heads; }
  int64_t width() const { return weight_.size(0); }

  // The vectors g_h(j) of columns [begin, end): f32 [heads, end - begin, width].
  Tensor head_terms(int64_t begin, int64_t end) const;
  // For row i, which must be among rows():
  double scale(int64_t i) const { return scales_[static_cast<size_t>(i - rows_.begin)]; }
  std::span<const float> output(int64_t i) const { return row_of(outputs_, i); }      // y_i
  std::span<const float> residual(int64_t i) const { return row_of(residuals_, i); }  // r_i
  std::vector<double> constant(int64_t i) const;                                      // c_i

  bool has_residual() const { return !residuals_.empty(); }
  // Whether column i is the position of row i, so that r_i belongs to it. In cross-attention r_i
  // belongs to no column.
  bool residual_in_columns() const;
  // Throws Error{kInvalidArgument} if it should be so but there are not as many columns as rows.
  void check_own_columns() const;

 private:
  std::span<const float> row_of(const Tensor& tensor, int64_t i) const {
    const auto width = static_cast<size_t>(weight_.size(0));
    return tensor.values<float>().subspan(static_cast<size_t>(i - rows_.begin) * width, width);
  }
  void attend();  // outputs_ = attention, b_O in it
  void add_residual();
  void apply_norm();
  // gamma (vector - mean), or without the mean.
  void transform(std::span<float> vector) const;

  std::shared_ptr<const AttentionRecord> record_;
  RowRange rows_;
  AttentionShape shape_;
  std::vector<AttentionMap> maps_;
  Tensor values_, weight_, bias_, norm_weight_, norm_bias_;  // f32; empty where there are none
  bool has_norm_ = false;                                    // and the asked extent includes it
  std::vector<double> scales_;
  Tensor outputs_, residuals_;  // f32 [rows, width]
};

// The weights A_h(i, j) of rows [begin, end) and all columns, for every head: f32 [heads, end -
// begin, cols].
Tensor weights_of_rows(const BlockSum& sum, int64_t begin, int64_t end);
// How many rows at a time make weights_of_rows some 4 MiB.
int64_t rows_at_a_time(const BlockSum& sum);

}  // namespace fovea
