// Computes the gradient that all gradient methods begin with.
#pragma once

#include <vector>

#include "fovea/explain/method.h"

namespace fovea {

// The gradient of the request's target, or of its difference to `against`. `what` says with respect
// to what. Throws Error{kInvalidArgument} for a similarity with the input's own embedding: nothing
// can raise it, so its gradient is 0 everywhere.
SubjectGradient target_gradient(const ExplainRequest& request, GradientRequest what);

// The model's numeric inputs that feed the asked stack: first the input of its columns, then, for
// cross-attention, what the decoder has read so far. Throws Error{kUnsupported} if no input feeds
// the columns (object queries).
std::vector<InputGradient> asked_inputs(const ExplainRequest& request,
                                        const std::vector<InputGradient>& inputs);

// Sums `each`, which is shaped like the input, to one number per position of the axis; 0 for tokens
// in front of patches.
std::vector<double> position_scores(const Axis& axis, const InputGradient& input,
                                    const Tensor& each);

}  // namespace fovea
