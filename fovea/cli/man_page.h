// Manual pages in roff, made from the commands' own descriptions as the help texts are.
#pragma once

#include <span>
#include <string>

#include "fovea/cli/command.h"

namespace fovea {

std::string program_man_page(std::span<const Command> commands);  // fovea(1)
std::string command_man_page(const Command& command);             // fovea-VERB(1)

}  // namespace fovea
