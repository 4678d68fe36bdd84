// Computes the gradient of one number of a model's output, for every architecture (docs/adr/0013).
#pragma once

#include "fovea/capture/subject.h"
#include "fovea/engine/engine.h"

namespace fovea {

// Does the work of Subject::gradient. Computes logits only for the target's row. Throws
// Error{kInvalidArgument} for a target that the output does not have and for numbers that do not
// fit, and Error{kUnsupported} if the model has no such output.
SubjectGradient engine_gradient(const Engine& engine, const EncodedInput& input,
                                const GradientRequest& request);

}  // namespace fovea
