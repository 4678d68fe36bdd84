// Draws tables for the terminal: labels on both axes, columns aligned in any script. Labels that
// are too wide, and tables that are too long, are shortened in the middle.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/terminal.h"
#include "fovea/figure/color_map.h"
#include "fovea/figure/number_table.h"

namespace fovea {

// A line and the terminal columns it takes, which its bytes (colours, UTF-8) do not tell.
struct TextLine {
  std::string text;
  int width = 0;
};
using TextBlock = std::vector<TextLine>;

// Draws the table at most `width` columns wide, if possible.
TextBlock draw_table(const NumberTable& table, const Terminal& terminal, const ColorMap& colors,
                     int width);

// Blocks next to each other, as many in a row as `width` allows, each line indented by `indent`.
std::string side_by_side(const std::vector<TextBlock>& blocks, int indent, int width);

// A bar of `width` columns for a value between 0 and 1, in eighths of a column.
std::string bar(double value, int width);
// For values of -1 to 1: from a line in the middle to the right, and of those below 0 to the left.
std::string signed_bar(double value, int width);

}  // namespace fovea
