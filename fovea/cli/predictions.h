// What a model said beside its maps: classes, words behind masks, the text it wrote.
#pragma once

#include <string>

#include "fovea/base/json.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/engine.h"

namespace fovea {

// The logits that predictions_text() will need: none for models whose output nobody would read.
LogitRows logits_wanted(const Engine& engine, const EncodedInput& input);

// A few lines, or nothing.
std::string predictions_text(const Engine& engine, const RunResult& result,
                             const Terminal& terminal);

// Of a model that names classes: those that the text lists, with their probabilities.
Json classes_json(const Engine& engine, const RunResult& result);

}  // namespace fovea
