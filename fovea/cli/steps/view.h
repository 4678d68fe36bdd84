// Which part of the steps is shown.
#pragma once

#include <optional>
#include <string>

#include "fovea/cli/steps/problem.h"

namespace fovea {

// The options of the command line, as the user wrote them.
struct StepsChoice {
  std::optional<std::string> token;  // a label, or a number
  std::optional<std::string> at;     // "X,Y"
  std::optional<int64_t> head;
  bool column = false;
};

struct StepsView {
  std::optional<int64_t> place;  // the chosen row, or column; none: all of them
  std::optional<int64_t> head;   // none: all heads
  bool column = false;           // who attends to it, not what it attends to
};

// A picture always has a chosen pixel, the one in the centre if none is given. Throws
// Error{kInvalidArgument} if the problem has no such label, pixel or head.
StepsView choose_view(const StepsProblem& problem, const StepsChoice& choice);

}  // namespace fovea
