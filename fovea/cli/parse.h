// The command line of one verb. CLI11 is used in parse.cc only.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

struct ParsedCommand {
  bool help = false;  // --help was asked for; the rest was not checked
  Args args;
};

// Options that every verb takes (--threads).
std::vector<Option> common_options();

// `arguments` are those after the verb. Throws Error{kInvalidArgument} with the nearest known
// option where there is one.
ParsedCommand parse_command(const Command& command, const std::vector<std::string>& arguments);

}  // namespace fovea
