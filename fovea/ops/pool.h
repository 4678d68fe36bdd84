// Pooling of [batch, channels, height, width].
#pragma once

#include "fovea/kernels/pool.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

Value max_pool2d(const Value& x, const PoolGeometry& geometry);
Value average_pool2d(const Value& x, const PoolGeometry& geometry);

}  // namespace fovea::ops
