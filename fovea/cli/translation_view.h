// A translation shown: its text, its alignment as a drawing, a figure or data.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/aligner.h"

namespace fovea {

// --layer and --head as alignments take them, and what only they have: --read --norms --convention
// --links --threshold --ignore-end.
std::vector<Option> align_options();
// Throws Error{kInvalidArgument} for what does not go together.
AlignOptions read_align_options(const Args& args);

// "source", "→ target" and how it was found.
std::string translation_text(const Translation& translation, const Terminal& terminal);

// The alignment by what `args` say: --moses, --json, --out, --pieces, --hard, or drawn.
void show_alignment(const Translation& translation, const Args& args);

}  // namespace fovea
