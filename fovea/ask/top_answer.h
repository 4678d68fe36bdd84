// The answer of all kinds of questions that list the largest weights.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/view.h"

namespace fovea {

// "top": how many weights a list has.
FieldInfo top_field();

Answer top_answer(const ViewChoice& choice, const Question& question, const FinishedRun& run);

}  // namespace fovea
