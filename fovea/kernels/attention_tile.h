// Pieces of one head's score and weight matrix, computed on demand with the arithmetic of the
// forward pass, so that a weight and the row's LSE belong together to the last bit.
#pragma once

#include <span>

#include "fovea/kernels/attention.h"
#include "fovea/kernels/head_rule.h"
#include "fovea/kernels/panels.h"

namespace fovea {

// The columns [columns.begin, columns.end) of one head. Making it costs one pass over these keys.
// Const members may be called from any thread; each runs on the calling thread alone.
class HeadTiles {
 public:
  // `inputs` must have passed validate() and, like its rule, must outlive the object.
  HeadTiles(const AttentionInputs& inputs, int64_t head, KeyRange columns);

  KeyRange columns() const { return rule_.columns; }

  // out(r, c) = s(row + r, part.begin + c); -infinity where masked. `part` lies within columns()
  // and begins a multiple of 32 keys after its start.
  void scores(int64_t row, KeyRange part, MatrixView<float> out) const;
  // out(r, c) = A(row + r, part.begin + c) with lse[r] the LSE of row + r.
  void weights(int64_t row, KeyRange part, std::span<const double> lse,
               MatrixView<float> out) const;
  // Both at once: the weights, and what add_entropy() adds.
  void weights_and_entropy(int64_t row, KeyRange part, std::span<const double> lse,
                           MatrixView<float> out, std::span<double> entropies) const;
  // entropies[r] -= sum over part of A log A of row + r, one entry per LSE.
  void add_entropy(int64_t row, KeyRange part, std::span<const double> lse,
                   std::span<double> entropies) const;

 private:
  void check_part(KeyRange part) const;
  HeadRule rule_;
  Panels keys_;
};

// out(r, c) = a_(row + r) . b_(cols.begin + c), without scale or rule: the gradient tile dO . V^T.
void dot_tile(const HeadsView& a, int64_t a_head, int64_t row, const HeadsView& b, int64_t b_head,
              KeyRange cols, MatrixView<float> out);

}  // namespace fovea
