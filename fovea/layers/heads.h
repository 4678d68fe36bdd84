// The heads on top of a stack of blocks: word scores and class scores.
#pragma once

#include <memory>
#include <mutex>

#include "fovea/layers/norm.h"
#include "fovea/layers/pass.h"

namespace fovea {

// Scores every word of the vocabulary. Its weights are usually the largest of the model, and often
// the word embeddings, so they are packed only when scores are first asked for.
class WordScores {
 public:
  // `weight` is [vocabulary, width], `bias` [vocabulary] or empty.
  WordScores(Tensor weight, Tensor bias, DType compute);

  // A cap c makes a score c * tanh(score / c); 0: none.
  void set_soft_cap(float cap) { soft_cap_ = cap; }
  Value operator()(const Value& x) const;

 private:
  struct Packed {
    std::once_flag once;
    std::unique_ptr<const ops::Linear> linear;
  };
  Tensor weight_, bias_;
  DType compute_;
  float soft_cap_ = 0;
  std::shared_ptr<Packed> packed_;
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
