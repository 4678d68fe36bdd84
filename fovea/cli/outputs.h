// Checks where a command writes before anything is computed.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/cli/command.h"

namespace fovea {

// Checks that all outputs named in `args` (--out and its sidecar, --mask-out, --check-out, --state)
// can be written and destroy nothing. An output must not be a file that another argument names, a
// file of a model's folder, or a file of true answers. No two may be the same, and the folder must
// exist. Throws Error{kInvalidArgument} or Error{kIo}.
void check_outputs(const Args& args);

// "wrote FILE", on a line of its own.
std::string wrote_line(const std::filesystem::path& path);
// "wrote FILE, 134 kB": of a page, which may be too large to send.
std::string wrote_page_line(const std::filesystem::path& path);

}  // namespace fovea
