// A layer of attention that is a convolution (Cordonnier et al. 2020, arXiv:1911.03584): one head
// per cell of the kernel. Head h looks from each pixel at the one at its own offset D_h, through a
// quadratic encoding of positions:
//
//   s(i, j) = -sharpness |p_j - p_i - D_h|^2 + what depends on i only
//           = q_i . k_j  with  q_i = sharpness (2 (p_i + D_h), -1),   k_j = (p_j, |p_j|^2)
//
// Softmax then puts all but exp(-sharpness) on one pixel. The values are the pixels themselves, and
// W_O holds the kernel: y_i = sum_h W(., ., D_h) x_(i + D_h). Where D_h leaves the picture, softmax
// takes the nearest pixel inside; a convolution would see zeros.
#pragma once

#include <cstdint>

#include "fovea/capture/attention_record.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

inline constexpr double kHeadSharpness = 60;

// The record of a layer with side^2 heads. Its positions are the pixels, row by row, and its heads
// begin at the top left of the kernel. `side` is odd. `pixels` is f32 [channels, rows, cols]. The
// record keeps the values, the heads' outputs and log-sum-exps. Throws Error{kInvalidArgument} on
// other sizes, and unless the sharpness is above 0.
AttentionRecord convolution_record(const Tensor& pixels, int64_t side,
                                   double sharpness = kHeadSharpness);

// The layer's output, f32 [out, rows, cols]: the kernel f32 [out, channels, side, side] mixes the
// heads.
Tensor mix_heads(const AttentionRecord& record, GridShape grid, const Tensor& kernel);

// A kernel [1, channels, 3, 3] that finds edges: eight times a pixel minus its eight neighbours,
// summed over channels.
Tensor edge_kernel(int64_t channels);
// The largest difference between the heads' mix by such a kernel and the same convolution of
// `pixels`. The border is left out, because softmax cannot see zeros there.
double convolution_difference(const AttentionRecord& record, const Tensor& pixels,
                              const Tensor& kernel);

}  // namespace fovea
