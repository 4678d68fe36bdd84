// Shows the attention of vectors that a user chose, step by step with every number, and its weights
// alone.
#pragma once

#include <optional>
#include <string>

#include "fovea/attention/steps_problem.h"
#include "fovea/figure/figure.h"

namespace fovea {

// Which part of the steps is shown.
struct StepsView {
  std::optional<int64_t> place;  // the chosen row, or column; none: all of them
  std::optional<int64_t> head;   // none: all heads
  bool column = false;           // who attends to it, not what it attends to
};

// All stages from the vectors to the output. For a memory, hard and soft reading stand side by
// side.
StepsFigure vector_steps_figure(const StepsProblem& problem, const StepsResult& result,
                                const StepsView& view);

// The weights alone, as maps: a MatrixFigure, or a HeadsFigure if there are several heads.
Figure vector_weights_figure(const StepsProblem& problem, const StepsResult& result,
                             const StepsView& view);

// The stages of reading a memory; vector_steps_figure() uses them.
std::vector<StepsStage> memory_stages(const StepsProblem& problem, const StepsResult& result,
                                      const StepsView& view);
// The title of a problem whose file names none.
std::string steps_title(const StepsProblem& problem);
// "scaled dot product", "additive similarity".
std::string similarity_fact(const StepsProblem& problem);

}  // namespace fovea
