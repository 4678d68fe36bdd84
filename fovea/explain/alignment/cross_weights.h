// One layer's cross-attention as matrices, [decoder positions, source positions]. They hold a
// head's weights, the mean over heads, or the norms of what the attention brings (Kobayashi et al.
// 2020, arXiv:2004.10102). Norms also count how long the vectors are that the weights weigh:
//
//   f_h(x_j) = v_j W_O^h        the value, its bias in it, through the head's part of W_O
//   one head:    A_h(i, j) ||f_h(x_j)||
//   one layer:   || sum_h A_h(i, j) f_h(x_j) ||   = sqrt(a^T G_j a) with a = (A_1 .. A_H) and
//                G_j(h, g) = f_h(x_j) . f_g(x_j), so that the sum is over heads, not dimensions
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/base/names.h"
#include "fovea/capture/run.h"

namespace fovea {

// A row of cross-attention belongs to two tokens of the target: the one that the decoder reads
// there, and the one that it then writes.
enum class TargetReading {
  kInput,   // the row that reads the token (AWI; Shift-Att of Chen et al. 2020, arXiv:2004.14837)
  kOutput,  // the row that predicts it (AWO)
};

inline constexpr NameTable<TargetReading, 2> kTargetReadings{
    "reading", {{TargetReading::kInput, "input"}, {TargetReading::kOutput, "output"}}};

// Where the target tokens y_0 ... y_{pieces - 1} are among the rows of a decoder that reads start,
// y_0, y_1, ... Row prefix + t reads y_t; the row before it predicts y_t.
struct TargetRows {
  int64_t pieces = 0;
  int64_t prefix = 1;  // tokens before y_0: the start, perhaps a language token
};

// The rows of y_0 ... y_{pieces - 1}. Throws Error{kInvalidArgument} if the matrix has too few.
Matrix read_rows(const Matrix& matrix, TargetReading reading, TargetRows target);

class CrossLayer {
 public:
  // Computes all weights at once. The record must be valid; any site will do.
  explicit CrossLayer(std::shared_ptr<const AttentionRecord> record);

  int layer() const { return record_->site.layer; }
  int64_t heads() const { return static_cast<int64_t>(weights_.size()); }
  int64_t rows() const { return record_->shape().rows; }
  int64_t cols() const { return record_->shape().cols; }
  // Whether the record keeps what norms need.
  bool has_norms() const { return record_->block.has_value() && !record_->values.empty(); }

  // These are all [rows, cols]. They throw Error{kInvalidArgument} for a head that is not there;
  // those of norms also if the record was captured without values or block.
  const Matrix& head_weights(int64_t head) const;
  Matrix mean_weights() const;
  Matrix head_norms(int64_t head) const;
  Matrix layer_norms() const;

 private:
  void check_head(int64_t head) const;
  // G_j for every column, row-major [heads, heads], one after the other; computed on the first
  // call.
  const std::vector<double>& grams() const;

  std::shared_ptr<const AttentionRecord> record_;
  std::vector<Matrix> weights_;
  mutable std::vector<double> grams_;
};

// The cross-attention of a run, by layer. Throws Error{kNotFound} if there is none.
std::vector<CrossLayer> cross_layers(const Run& run);

// The mean over all heads of all layers. Throws Error{kInvalidArgument} without layers.
Matrix mean_weights(std::span<const CrossLayer> layers);

}  // namespace fovea
