// Gradients of one number of a model's output, for every architecture (docs/adr/0013).
#pragma once

#include "fovea/capture/subject.h"
#include "fovea/engine/engine.h"

namespace fovea {

// What Subject::gradient gives. Logits are computed for the target's row alone. Throws
// Error{kInvalidArgument} for a target that the output does not have and for numbers that do not
// fit, Error{kUnsupported} where the model gives nothing of the kind.
SubjectGradient engine_gradient(const Engine& engine, const EncodedInput& input,
                                const GradientRequest& request);

}  // namespace fovea
