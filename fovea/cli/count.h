// A count over many inputs on the command line: kept in a file while it runs, so that the same
// command goes on after an interrupt, and its answer out of the program.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/ask/ask_all.h"
#include "fovea/cli/command.h"
#include "fovea/cli/show.h"

namespace fovea {

// --state, or beside --out; empty: it is kept nowhere.
std::filesystem::path state_path(const Args& args);

// Counts all inputs; with a file it goes on from there. Interrupted, it saves what it has and ends
// the program. Throws Error{kBadFile} for a file that is no such count.
ManyState counted(const Engine& engine, const ManyInputs& inputs, const Question& question,
                  const std::filesystem::path& file);

// By --out and --json, or in the terminal below `preface`. `told` is what the terminal draws, where
// that is another figure. Prints the answer's notes.
void show_count(const Answer& answer, const Args& args, const std::string& preface = "",
                std::optional<Figure> told = {});

}  // namespace fovea
