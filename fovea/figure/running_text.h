// The source text of an axis with what is no text in it (special tokens, bare white space) set in
// as small chips, and where each position stands.
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
  // Byte pieces of one character share its place: this is piece `part` of `parts`.
  int part = 0;
  int parts = 1;
};

struct RunningText {
  std::string text;               // valid UTF-8; \n between paragraphs
  std::vector<TextPlace> places;  // one per position
};

// Where an axis has no usable source, its positions' names with spaces between.
RunningText running_text(const Axis& axis);

}  // namespace fovea
