// Turns a question about steps into the row, or the pair, of one head that it is about.
#pragma once

#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/model_steps_view.h"

namespace fovea {

// The value of `similarity` that shows all of them beside each other.
inline constexpr std::string_view kAllSimilarities = "all";

// The attention whose steps are shown if none is named: the first that the model has for such an
// input, or the pooling head if nothing else looks at the whole picture.
SiteKind usual_steps_site(const Place& place, const ModelFacts& facts, bool sees_picture);

// Throws Error{kInvalidArgument} about "at" or "to" if there is no picture, or for pixels that the
// model does not see.
void check_steps_pixels(const Question& question, const OpenedInput& opened);

// Throws Error{kInvalidArgument} if there is no such layer, head, row or column, or if a captured
// run was kept without its values.
ModelStepsView steps_view(const Question& question, const FinishedRun& run);

}  // namespace fovea
