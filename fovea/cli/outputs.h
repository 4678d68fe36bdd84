// Where a command writes, checked before anything is computed.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/cli/command.h"

namespace fovea {

// Everything that the options of `args` say is written (--out and its sidecar, --mask-out,
// --check-out, --state) can be, and nothing is lost by it: it is no file that another argument
// names, no file of a folder with a model or with what is true, and no two are the same; and there
// is a folder for it. Throws Error{kInvalidArgument} or Error{kIo}.
void check_outputs(const Args& args);

// "wrote FILE", on a line of its own.
std::string wrote_line(const std::filesystem::path& path);
// "wrote FILE, 134 kB": of a page, which may be too large to send.
std::string wrote_page_line(const std::filesystem::path& path);

}  // namespace fovea
