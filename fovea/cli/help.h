// Help texts, made from the commands' own descriptions.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "fovea/cli/command.h"

namespace fovea {

std::string program_help(std::span<const Command> commands);
std::string command_help(const Command& command);
// Lines of "  name  meaning"; meanings are aligned and fit into 80 columns.
std::string help_list(std::span<const std::pair<std::string, std::string>> lines);
std::string program_version();  // "fovea 0.1.0"
// What the help says about an option, with its choices and its default.
std::string describe(const Option& option);

}  // namespace fovea
