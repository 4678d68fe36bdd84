// The steps as text for a terminal.
#pragma once

#include <string>

#include "fovea/cli/steps/problem.h"
#include "fovea/cli/steps/view.h"
#include "fovea/cli/terminal.h"

namespace fovea {

std::string steps_text(const StepsProblem& problem, const StepsResult& result,
                       const StepsView& view, const Terminal& terminal);

// The first line of the text, also used as the title of a picture.
std::string steps_title(const StepsProblem& problem);
// "scaled dot product", "additive similarity".
std::string similarity_fact(const StepsProblem& problem);

}  // namespace fovea
