// Shows what a model said besides its maps, in a few lines of the terminal.
#pragma once

#include <string>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/predictions.h"
#include "fovea/cli/terminal.h"
#include "fovea/figure/table.h"

namespace fovea {

// Classes, words behind masks or the text that it wrote; empty if there are none.
std::string predictions_text(const Engine& engine, const RunResult& result,
                             const Terminal& terminal);

// The same, and also the artifacts among a picture's patches, or source and target of a
// translation.
std::string outputs_text(const FinishedRun& run, const Terminal& terminal);

// How well texts match a picture, the best first; made from the facts about it.
TableFigure similarities_table(const Json& similarity);
// The objects that were found, or what to do if there are none.
TableFigure found_table(const DetectedObjects& found);

}  // namespace fovea
