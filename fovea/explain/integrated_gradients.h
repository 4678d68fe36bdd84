// Integrated gradients (Sundararajan, Taly & Yan 2017, arXiv:1703.01365): the gradient on the
// straight way from a baseline x' to the input x, times what the input has more.
//
//   a = (x - x') * mean over k < K of dF(x' + (k + 1/2) / K (x - x'))          elementwise
//
// The sum of all a is F(x) - F(x'), up to the error of the K steps. Midpoints, since their error is
// half of the trapezoid's and none of them is the baseline itself, where norms may have no slope.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

struct IntegratedGradients {
  std::vector<Tensor> attributions;  // shaped like the inputs
  double at_input = 0;               // F(x)
  double at_baseline = 0;            // F(x')
  // Sum of all attributions less F(x) - F(x').
  double gap() const;
};

// Moves `inputs` (their values are x) from `baseline`, one tensor each, all at once; the model's
// other inputs stay. `what` names target and contrast. Throws Error{kInvalidArgument} unless shapes
// agree and there are 1 step or more.
IntegratedGradients integrated_gradients(Subject& subject, const GradientRequest& what,
                                         const std::vector<InputGradient>& inputs,
                                         const std::vector<Tensor>& baseline, int64_t steps);

}  // namespace fovea
