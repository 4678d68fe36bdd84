// `fovea align SRC TGT`: the words of two parallel files aligned, pair by pair.
#pragma once

#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

// --model, --reverse-model, --symmetrize, which map is read and how, --rank, --ranking, --out.
std::vector<Option> align_files_options();
// Prints or writes a line of links for each pair, or the ranking of all maps. Reads the options
// above, --gold, --gold-base and --json. Throws Error{kInvalidArgument} for options that do not go
// together, Error{kBadFile} naming the line of a pair that cannot be aligned.
void run_align_files(const Args& args);

}  // namespace fovea
