// Runs that are opened from a file: captured ones, and arrays of weights from other programs.
#pragma once

#include <filesystem>
#include <vector>

#include "fovea/ask/session.h"
#include "fovea/cli/command.h"

namespace fovea {

// --labels --col-labels --array: what is said of arrays.
std::vector<Option> array_options();

// Opens the file. Throws what load_run() and open_arrays() throw, and Error{kInvalidArgument} for
// an option of arrays with a captured run.
Session open_run_file(const std::filesystem::path& path, const Args& args);

}  // namespace fovea
