// A translation shown: its text, its alignment as a drawing, a figure or data.
#pragma once

#include <string>

#include "fovea/cli/command.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/translator.h"

namespace fovea {

// "source", "→ target" and how it was found.
std::string translation_text(const Translation& translation, const Terminal& terminal);

// The alignment by what `args` say: --moses, --json, --out, --pieces, --hard, or drawn.
void show_alignment(const Translation& translation, const Args& args);

}  // namespace fovea
