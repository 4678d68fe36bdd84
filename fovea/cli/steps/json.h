// The steps as JSON: every intermediate, whatever part of them is shown.
#pragma once

#include "fovea/base/json.h"
#include "fovea/cli/steps/problem.h"
#include "fovea/cli/steps/view.h"

namespace fovea {

// Masked scores are null.
Json steps_json(const StepsProblem& problem, const StepsResult& result, const StepsView& view);

}  // namespace fovea
