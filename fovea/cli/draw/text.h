// Text around drawings: labels of a given width, wrapped captions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/cli/terminal.h"
#include "fovea/figure/figure.h"

namespace fovea {

// Between the line ends.
std::vector<std::string> lines_of(std::string_view text);
// As printable(), but what the figure isolates because it runs from right to left stays so.
std::string told_text(std::string_view text);
std::string repeated(std::string_view text, int64_t count);
std::string padded_left(std::string_view text, int width);   // spaces before
std::string padded_right(std::string_view text, int width);  // spaces behind
std::string centred(std::string_view text, int width);

// A position's text, safe to print and at most `width` columns wide.
std::string label_of(const Axis& axis, int64_t index, int width);
// The widest label, `most` at most.
int widest_label(const Axis& axis, int most);

// ".31", "1.0", "0": a weight in at most three columns; "-.31" where there are negative ones.
std::string short_weight(double weight);

// Lines of at most `width` columns, broken at " · " or, where that is not enough, at spaces.
std::string wrapped(std::string_view text, int width);

// The same, broken at spaces only.
std::string words_wrapped(std::string_view text, int width);

std::string without_trailing_spaces(std::string_view text);  // of every line

// The lines before and after every drawing.
std::string title_lines(const FigureText& text, const Terminal& terminal);
std::string caption_lines(const FigureText& text, const Terminal& terminal);

}  // namespace fovea
