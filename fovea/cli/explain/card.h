// The faithfulness card for people and programs: a table below the map, JSON, a part of the page,
// and its curves as a figure.
#pragma once

#include <string>

#include "fovea/base/json.h"
#include "fovea/cli/explain/question.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/render/figure.h"

namespace fovea {

struct CheckedExplanation {
  const ExplainQuestion& question;
  const Explanation& explanation;
  const FaithfulnessCard& card;
};

// A table of at most the terminal's width.
std::string card_text(const CheckedExplanation& checked, const Terminal& terminal);

// Every grade with what random numbers get; `curves`: the points of all curves too.
Json card_json(const ExplainQuestion& question, const FaithfulnessCard& card, bool curves);

CurvesFigure card_figure(const CheckedExplanation& checked);

// Heading, table and curves, to stand on the page of the explanation.
std::string card_html(const CheckedExplanation& checked);

}  // namespace fovea
