// `fovea steps --vectors`: what of the steps is asked for, and all of them as data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/figure/vector_steps.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

// The options of the command line, as the user wrote them.
struct StepsChoice {
  std::optional<std::string> token;  // a label, or a number
  std::optional<std::string> at;     // "X,Y"
  std::optional<int64_t> head;
  bool column = false;
};

// A picture always has a chosen pixel, the one in the centre if none is given. Throws
// Error{kInvalidArgument} if the problem has no such label, pixel or head.
StepsView choose_view(const StepsProblem& problem, const StepsChoice& choice);

// Every intermediate, whatever part of them is shown. Masked scores are null.
Json vectors_json(const StepsProblem& problem, const StepsResult& result, const StepsView& view);
// The same as arrays, heads first.
std::vector<NamedTensor> vectors_arrays(const StepsProblem& problem, const StepsResult& result);

}  // namespace fovea
