// What a shell may offer at the cursor, made from the commands' own descriptions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

// This line tells the shell that names of files fit too.
inline constexpr const char* kCompleteFiles = ":files";

// Completes a command line. `words` come after the program's name; the last one is unfinished and
// may be empty. Gives a line "WORD\tmeaning" for each word that may stand there, and kCompleteFiles
// if a file may. Never throws for anything that a user may have typed.
std::string complete(std::span<const Command> commands, std::vector<std::string> words);

}  // namespace fovea
