// Resizing of a grid of vectors, as torch.nn.functional.interpolate(mode="bicubic",
// align_corners=False) does it: what vision transformers do with their learned positions.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

enum class BicubicFilter {
  kPlain,      // four neighbours, cubic with a = -0.75
  kAntialias,  // torch's antialias=True: a = -0.5, stretched over all cells that a new one covers
};

// `grid` is f32 [rows, cols, dim]; gives [out_rows, out_cols, dim]. No size may be 0. Weights are
// computed in double and rounded once.
Tensor resize_bicubic(const Tensor& grid, int64_t out_rows, int64_t out_cols, BicubicFilter filter);

}  // namespace fovea
