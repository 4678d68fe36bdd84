// What a shell may offer where the cursor is, made from the commands' own descriptions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

// The line that says that names of files fit too.
inline constexpr const char* kCompleteFiles = ":files";

// `words` are those after the program's name, the last one unfinished and possibly empty. A line
// for each word that may stand there, "WORD\tmeaning"; kCompleteFiles where a file may.
// Never throws for what a user may have typed.
std::string complete(std::span<const Command> commands, std::vector<std::string> words);

}  // namespace fovea
