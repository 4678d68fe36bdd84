// A folder of pictures run through a model, and through the same with random weights if asked.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "fovea/cli/evaluate/report.h"
#include "fovea/cli/evaluate/truth_folder.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

struct EvaluationOptions {
  std::optional<int64_t> layer;
  double share = 0;  // of the mass that masks hold
};
// --layer and --mask. Throws Error{kInvalidArgument}, also for a layer that the model does not
// have.
EvaluationOptions evaluation_options(const Args& args, const Engine& engine);

// Fills the report's model, layer, columns and pictures. `truth` reads what is true of a picture
// and says how many objects that has; one without any is skipped with a note. `score` then gives
// the rows' scores of one run on it. One picture is in memory at a time.
void score_pictures(
    const Args& args, const Engine& engine, const std::vector<TruthFiles>& files,
    ScoreReport& report, const std::function<int64_t(const TruthFiles&, PictureSize)>& truth,
    const std::function<std::vector<double>(const PictureInput&, const Run&)>& score);

}  // namespace fovea
