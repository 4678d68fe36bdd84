// The heads on top of a stack of blocks: word scores and class scores.
#pragma once

#include "fovea/layers/norm.h"
#include "fovea/layers/pass.h"

namespace fovea {

// Scores of every word of the vocabulary. The weights are often the word embeddings and the largest
// of the model, so they stay as they are stored, once for both.
class WordScores {
 public:
  // `weight` is [vocabulary, width], `bias` [vocabulary] or empty.
  WordScores(const StoredMatrix& weight, const Tensor& bias, DType compute);

  // A cap c makes a score c * tanh(score / c); 0: none.
  void set_soft_cap(float cap) { soft_cap_ = cap; }
  // Every score is multiplied by this.
  void set_scale(float scale) { scale_ = scale; }
  Value operator()(const Value& x) const;

 private:
  ops::Linear linear_;
  float soft_cap_ = 0;
  float scale_ = 1;
};

// norm(activation(dense(x))): masked-word models apply it before the scores.
class WordTransform {
 public:
  WordTransform(ops::Linear dense, Activation activation, Norm norm)
      : dense_(std::move(dense)), activation_(activation), norm_(std::move(norm)) {}
  Value operator()(const Value& x) const { return norm_(dense_(x, activation_)); }

 private:
  ops::Linear dense_;
  Activation activation_;
  Norm norm_;
};

// The rows of x [rows, width] whose logits are wanted: all, the last, or one. Throws
// Error{kInvalidArgument} for one that is not there.
Value rows_for_logits(const Value& x, LogitRows rows);
// Row `index` as [1, width].
Value row_of(const Value& x, int64_t index);
// [1, n] as [n].
Value as_vector(const Value& x);

}  // namespace fovea
