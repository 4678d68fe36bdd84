// Shows how far explanations can be believed: the curves and grades of one, and a table of methods.
#pragma once

#include <string>

#include "fovea/explain/faithfulness/comparison.h"
#include "fovea/figure/figure.h"

namespace fovea {

// A card and what it is about. Refers to its parts.
struct CardView {
  const FaithfulnessCard& card;
  const Axis& axis;         // the scores' axis
  std::string model;        // its name
  std::string method;       // its name
  std::string answer;       // the answer that was watched: "class cat rather than class dog"
  bool similarity = false;  // watched as a cosine, not as a probability
};

// Which random orders and runs the numbers come from. Stands below the curves, and below the table.
std::string card_facts(const CardView& view);
// The curves of deletion and insertion.
CurvesFigure card_figure(const CardView& view);
// All grades, with what random numbers get.
TableFigure card_table(const CardView& view);

// A row for each method and one for random numbers. Notes below say which methods could not be
// graded.
TableFigure comparison_table(const MethodComparison& comparison);

// "mask token in their place", "mean colour in their place", "hidden from attention".
std::string removal_text(Removal removal, const Axis& axis);
// What a good explanation has: "low", "high", "near 0".
std::string_view good_text(Wish wish);

}  // namespace fovea
