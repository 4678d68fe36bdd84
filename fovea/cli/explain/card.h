// The faithfulness card for programs and as a part of the page.
#pragma once

#include <string>

#include "fovea/base/json.h"
#include "fovea/cli/explain/question.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/figure/faithfulness_view.h"

namespace fovea {

struct CheckedExplanation {
  const ExplainQuestion& question;
  const Explanation& explanation;
  const FaithfulnessCard& card;
};

// For the figures of faithfulness_view.h; refers to what it is made from.
CardView card_view(const CheckedExplanation& checked);

// Every grade with what random numbers get; `curves`: the points of all curves too.
Json card_json(const ExplainQuestion& question, const FaithfulnessCard& card, bool curves);

// Heading, table and curves, to stand on the page of the explanation.
std::string card_html(const CheckedExplanation& checked);

}  // namespace fovea
