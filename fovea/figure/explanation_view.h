// Draws what a method says about an input: shaded text, a picture with its map, or a grid of heads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/method.h"
#include "fovea/figure/figure.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

// An explanation and what was asked for it. Refers to what it is made from.
struct ExplanationView {
  const Run& run;
  const Method& method;
  const Explanation& explanation;
  SiteKind kind = SiteKind::kSelf;
  int64_t position = 0;
  std::string position_name;  // "seen from [CLS]"; empty: nobody asks from one
  std::optional<int64_t> head;
  std::string answer;  // "class cat rather than class dog"; empty: none was asked about
  std::vector<std::string> notes;
  const Picture* picture = nullptr;  // null: of a text
  const PatchGrid* grid = nullptr;   // the picture's patches
  std::string grid_name = "patches";
};

// Makes the figure without metadata; the caller, who knows more about the question, adds it.
Figure explanation_figure(const ExplanationView& view);

}  // namespace fovea
