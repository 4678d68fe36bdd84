// LayerScale (Touvron et al. 2021, arXiv:2103.17239): a learned factor for each number of the width
// scales what a part of a block adds.
#pragma once

#include "fovea/layers/layer_source.h"

namespace fovea {

// Loads scale * (x W^T + bias) with the factors inside the weights. The W_O of a record is then
// what the block really adds. `scale` is f32 [out].
ops::Linear load_scaled_linear(const LayerSource& source, int64_t in, int64_t out, bool bias,
                               const Tensor& scale);

}  // namespace fovea
