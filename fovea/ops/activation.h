// Activation functions.
#pragma once

#include "fovea/kernels/activation.h"
#include "fovea/ops/tape.h"

namespace fovea::ops {

Value activation(const Value& x, Activation function);

}  // namespace fovea::ops
