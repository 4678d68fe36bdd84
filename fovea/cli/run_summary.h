// What a captured run is, in a few lines.
#pragma once

#include <string>

#include "fovea/capture/run.h"
#include "fovea/cli/terminal.h"

namespace fovea {

// Model, input, axes and sites.
std::string run_summary(const Run& run, const Terminal& terminal);

}  // namespace fovea
