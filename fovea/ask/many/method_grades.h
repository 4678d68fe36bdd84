// Grades methods that explain, side by side on the same inputs.
#pragma once

#include <memory>

#include "fovea/ask/answer.h"
#include "fovea/ask/many/counter.h"
#include "fovea/explain/faithfulness/comparison.h"

namespace fovea {

// A row holds the grades of each method on its input, or why it has none. An input on which no
// method can be graded is left out. Throws Error{kInvalidArgument} about a parameter that no method
// has.
std::unique_ptr<Counter> grade_counter(const ManyAsked& asked);

MethodComparison comparison_of(const ManyAsked& asked, const ManyState& state);
Answer grades_answer(const ManyAsked& asked, const ManyState& state);

}  // namespace fovea
