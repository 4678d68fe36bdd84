// From a question about steps to the row, or the pair, of one head that it is about.
#pragma once

#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/model_steps_view.h"

namespace fovea {

// What `similarity` takes to show all of them beside each other.
inline constexpr std::string_view kAllSimilarities = "all";

// The attention that steps are of where none is named: the first that the model has on such an
// input, or the pooling head where nothing else looks at the whole picture.
SiteKind usual_steps_site(const Place& place, const ModelFacts& facts, bool sees_picture);

// Throws Error{kInvalidArgument} about "at" or "to" for pixels of what is no picture, and for those
// that the model does not see.
void check_steps_pixels(const Question& question, const OpenedInput& opened);

// Throws Error{kInvalidArgument} if there is no such layer, head, row or column, and where a
// captured run was kept without its values.
ModelStepsView steps_view(const Question& question, const FinishedRun& run);

}  // namespace fovea
