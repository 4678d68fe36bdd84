// The gradient of streaming attention, tile by tile from Q, K, V and LSE: neither A nor dA is ever
// stored (FlashAttention's backward pass, Dao et al. 2022, arXiv:2205.14135).
#pragma once

#include <span>

#include "fovea/kernels/attention.h"

namespace fovea {

// Gradients with respect to Q, K and V, all f32, shaped like their inputs.
struct AttentionGradients {
  Tensor queries;
  Tensor keys;
  Tensor values;
};

// Which of them are wanted; the others stay empty.
struct WantedGradients {
  bool scores = true;  // Q and K, which come together
  bool values = true;
};

// `out` and `lse` are what attention() gave; `out_gradient` is dO [heads, rows, value_dim]. The
// score rule's own numbers (bias tables, sink logits) count as constants. Memory O((rows + cols) *
// dim).
AttentionGradients attention_backward(const AttentionInputs& inputs, const HeadsView& out,
                                      std::span<const double> lse, const HeadsView& out_gradient,
                                      WantedGradients wanted = {});

}  // namespace fovea
