// Help texts, made from the commands' own descriptions.
#pragma once

#include <span>
#include <string>

#include "fovea/cli/command.h"

namespace fovea {

std::string program_help(std::span<const Command> commands);
std::string command_help(const Command& command);
std::string program_version();  // "fovea 0.1.0"

}  // namespace fovea
