// `fovea align evaluate`: an alignment file scored against gold links.
#pragma once

#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

// --gold, --hyp and how to read them.
std::vector<Option> align_evaluate_options();
// Prints AER, precision and recall. Reads the options above and --json. Throws
// Error{kInvalidArgument} if a file is not named, and as read_alignments() does.
void run_align_evaluate(const Args& args);

}  // namespace fovea
