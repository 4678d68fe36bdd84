// `fovea explain --compare`: methods graded on the same inputs, side by side.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/cli/command.h"

namespace fovea {

// INPUT is one input, a folder of pictures or of .txt files, or a .txt with one text on each line.
// Throws what opening a model and ask_all() throw.
Answer compared_methods(const Args& args);

}  // namespace fovea
