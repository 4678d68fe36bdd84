// The steps as JSON: every intermediate, whatever part of them is shown.
#pragma once

#include "fovea/base/json.h"
#include "fovea/cli/steps_problem.h"
#include "fovea/cli/steps_view.h"

namespace fovea {

// Masked scores are null.
Json steps_json(const StepsProblem& problem, const StepsResult& result, const StepsView& view);

}  // namespace fovea
