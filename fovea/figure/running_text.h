// The source text of an axis, and where each position stands in it. What is no text (special
// tokens, bare white space) becomes a small chip.
#pragma once

#include <string>
#include <vector>

#include "fovea/capture/run.h"

namespace fovea {

inline constexpr std::string_view kChipMark = "\ufffc";  // stands for a chip in the text

struct TextPlace {
  size_t begin = 0;  // bytes of RunningText::text, at character boundaries, without outer spaces
  size_t end = 0;
  bool chip = false;
  // The byte pieces of one character share its place; this is piece `part` of `parts`.
  int part = 0;
  int parts = 1;
};

struct RunningText {
  std::string text;               // valid UTF-8; \n between paragraphs
  std::vector<TextPlace> places;  // one per position
};

// The running text of an axis. Without a usable source it is the names of the positions, with
// spaces between.
RunningText running_text(const Axis& axis);

}  // namespace fovea
