// `fovea explain --compare`: every method graded on the same inputs, side by side.
#pragma once

#include <string>

#include "fovea/cli/command.h"
#include "fovea/explain/faithfulness/comparison.h"

namespace fovea {

// INPUT is one input, a folder of pictures or of .txt files, or a .txt with one text on each line.
// Throws what opening a model and compare_methods() throw.
MethodComparison run_comparison(const Args& args);

// One line for each method and grade; "random" is a method too.
std::string comparison_csv(const MethodComparison& comparison);

}  // namespace fovea
