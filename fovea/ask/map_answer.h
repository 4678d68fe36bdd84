// What all kinds of questions about maps share.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/view.h"

namespace fovea {

// The question as views take it.
ViewChoice view_choice(const Question& question);

// An answer that shows one attention. Its facts say which site, layer and head were taken, and
// which row or column.
Answer map_answer(Figure figure, const Question& question, const FinishedRun& run,
                  const HeadChoice& head);

// What all answers about a run say of it: "model", "input" and "outputs".
Json facts_of_run(const FinishedRun& run);
// The rest of the facts: the question, model, input, axes, outputs, caption and notes.
void complete_facts(Answer& answer, const Question& question, const FinishedRun& run);

}  // namespace fovea
