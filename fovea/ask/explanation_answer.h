// An explanation as an answer: its figure, its numbers, and how far it can be believed.
#pragma once

#include "fovea/ask/answer.h"
#include "fovea/ask/explanation.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// `card`: where it was checked; null: it was not. Refers to none of what it is made from.
Answer explanation_answer(const AskedExplanation& asked, const Explanation& explanation,
                          const FaithfulnessCard* card);

}  // namespace fovea
