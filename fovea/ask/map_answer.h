// What the kinds of questions about maps have in common.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/view.h"

namespace fovea {

// What is asked, as views take it.
ViewChoice view_choice(const Question& question);

// A figure of one attention with the facts of its place: which site, layer and head were taken, and
// which row or column.
Answer map_answer(Figure figure, const Question& question, const FinishedRun& run,
                  const HeadChoice& head);

// The rest of the facts: the question, model, input, axes, outputs, caption and notes.
void complete_facts(Answer& answer, const Question& question, const FinishedRun& run);

}  // namespace fovea
