// The steps as a file, in the format that its suffix names.
#pragma once

#include <filesystem>

#include "fovea/cli/steps/problem.h"
#include "fovea/cli/steps/view.h"

namespace fovea {

// Throws Error{kInvalidArgument} unless the suffix is one that steps can write. Called before the
// work is done, so that nobody waits for a refusal.
void check_steps_suffix(const std::filesystem::path& path);

// json: what --json prints; npz: every stage as an array; png: the weights as a heatmap.
void write_steps(const std::filesystem::path& path, const StepsProblem& problem,
                 const StepsResult& result, const StepsView& view);

}  // namespace fovea
