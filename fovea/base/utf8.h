// UTF-8 text: is it valid, where do characters begin, how wide are they on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Byte offset of the first invalid sequence, or npos if all of it is valid UTF-8.
size_t find_invalid_utf8(std::string_view text);
// Invalid bytes become U+FFFD.
std::string to_valid_utf8(std::string_view text);
// As above, and noncharacters (U+FFFE, U+FDD0 and others), which neither XML nor PDF takes, become
// U+FFFD too.
std::string to_characters(std::string_view text);
// Valid UTF-8 that can neither break a line nor steer a terminal: control characters and line
// separators become escapes such as \n and \x1b.
std::string to_one_line(std::string_view text);
// Terminal columns that the text takes: wide CJK counts 2, combining marks 0, an emoji 2 even if it
// is joined from several.
int display_width(std::string_view text);
// The longest prefix of at most `columns` terminal columns, ending in an ellipsis if it was cut;
// nothing if there is no column.
std::string shorten(std::string_view text, int columns);
// A name out of a file, fit to be quoted in a message: not longer than a line.
std::string quote_name(std::string_view name);
// What a reader takes for single characters: letters with their marks, whole emoji, flags.
std::vector<std::string_view> graphemes(std::string_view text);
// Whether there is a letter of Hebrew, Arabic or another script that runs from right to left.
bool has_right_to_left(std::string_view text);
// Foreign text that is safe to print and stays on one line: line ends, tabs and control characters
// become visible signs, a lone space too.
std::string printable(std::string_view text);
// As printable(), and text that runs from right to left is isolated so that it does not reorder
// what stands beside it.
std::string isolated(std::string_view text);

}  // namespace fovea
