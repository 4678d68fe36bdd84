// The gradient that gradient methods begin with.
#pragma once

#include <vector>

#include "fovea/explain/method.h"

namespace fovea {

// Of what the request asks about: its target, less `against` where there is one; `what` says with
// respect to what. Throws Error{kInvalidArgument} for a similarity with the input's own embedding,
// which nothing can raise, so that its gradient is 0 everywhere.
SubjectGradient target_gradient(const ExplainRequest& request, GradientRequest what);

// The model's numeric inputs that feed the asked stack: first that of its columns and then, of
// cross-attention, what the decoder has read so far. Throws Error{kUnsupported} if the columns are
// fed by none (object queries).
std::vector<InputGradient> asked_inputs(const ExplainRequest& request,
                                        const std::vector<InputGradient>& inputs);

// What each position of the input's axis has of `each`, which is shaped like the input; 0 for
// tokens in front of patches.
std::vector<double> position_scores(const Axis& axis, const InputGradient& input,
                                    const Tensor& each);

}  // namespace fovea
