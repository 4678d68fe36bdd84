// Where results are printed: how wide it is, whether it shows colours, and writing to it.
#pragma once

#include <string>
#include <string_view>

#include "fovea/render/color_map.h"

namespace fovea {

struct Terminal {
  int width = 80;
  bool color = false;

  // Text in a style, or unchanged where there is no colour.
  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  std::string accent(std::string_view text) const;  // formulas
  std::string on(Rgb background, std::string_view text) const;
};

// Standard output: its width if it is a terminal, else COLUMNS, else 80; colour if it is a terminal
// that can and NO_COLOR (no-color.org) is unset or empty.
Terminal stdout_terminal();

// Throws Error{kIo} if it cannot all be written, to a full disk say.
void write_stdout(std::string_view text);

// Foreign text that is safe to print and stays on one line: line ends, tabs and control characters
// become visible signs, a lone space too.
std::string printable(std::string_view text);

}  // namespace fovea
