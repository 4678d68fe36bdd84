// Makes an answer from an explanation: its figure, its numbers, and how far it can be believed.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/ask/explanation.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// `card` is the check's result; null: it was not checked. The answer refers to none of the
// arguments.
Answer explanation_answer(const AskedExplanation& asked, const Explanation& explanation,
                          const FaithfulnessCard* card);

// A saved page of such an answer.
ExplanationPage explanation_page(const Answer& answer);

}  // namespace fovea
