// Integrated gradients (Sundararajan, Taly & Yan 2017, arXiv:1703.01365): the mean gradient along
// the straight line from a baseline x' to the input x, times x - x'.
//
//   a = (x - x') * mean over k < K of dF(x' + (k + 1/2) / K (x - x'))          elementwise
//
// All a sum to F(x) - F(x'), up to the error of K steps. The points are midpoints: their error is
// half of the trapezoid's, and none is the baseline itself, where a norm may have no slope.
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
  // The sum of all attributions, minus F(x) - F(x').
  double gap() const;
};

// Moves all `inputs` at once from `baseline` (one tensor each) to their values x. The model's other
// inputs stay. `what` names target and contrast. Throws Error{kInvalidArgument} unless shapes agree
// and there is at least 1 step.
IntegratedGradients integrated_gradients(Subject& subject, const GradientRequest& what,
                                         const std::vector<InputGradient>& inputs,
                                         const std::vector<Tensor>& baseline, int64_t steps);

}  // namespace fovea
