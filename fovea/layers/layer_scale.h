// LayerScale (Touvron et al. 2021, arXiv:2103.17239): what a part of a block adds is multiplied by
// a learned factor for each number of the width.
#pragma once

#include "fovea/layers/layer_source.h"

namespace fovea {

// scale * (x W^T + bias), with the factors inside the weights: then W_O of a record says what the
// block really adds. `scale` is f32 [out].
ops::Linear load_scaled_linear(const LayerSource& source, int64_t in, int64_t out, bool bias,
                               const Tensor& scale);

}  // namespace fovea
