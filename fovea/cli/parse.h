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

// All options of a verb: its own, and unless it takes its arguments raw those that every verb has
// (--threads). --help is not among them.
std::vector<Option> options_of(const Command& command);

// `arguments` are those after the verb. Throws Error{kInvalidArgument} with the nearest known
// option where there is one.
ParsedCommand parse_command(const Command& command, const std::vector<std::string>& arguments);

}  // namespace fovea
