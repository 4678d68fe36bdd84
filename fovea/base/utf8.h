// UTF-8 text: checks it, finds its characters, and measures how wide it is in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Byte offset of the first invalid sequence, or npos if all of it is valid UTF-8.
size_t find_invalid_utf8(std::string_view text);
// Replaces invalid bytes by U+FFFD.
std::string to_valid_utf8(std::string_view text);
// The same, and also replaces noncharacters (U+FFFE, U+FDD0 and others), which neither XML nor PDF
// accepts.
std::string to_characters(std::string_view text);
// Makes valid UTF-8 that can neither break a line nor control a terminal: control characters and
// line separators become escapes such as
// and \x1b.
std::string to_one_line(std::string_view text);
// How many terminal columns the text takes: wide CJK counts 2, combining marks 0, an emoji 2 even
// if it is joined from several.
int display_width(std::string_view text);
// The longest prefix of at most `columns` terminal columns. It ends in an ellipsis if the text was
// cut; it is empty if `columns` is 0.
std::string shorten(std::string_view text, int columns);
// A name from a file, made fit for a message: at most a line long.
std::string quote_name(std::string_view name);
// Splits text into what a reader sees as single characters: letters with their marks, whole emoji,
// flags.
std::vector<std::string_view> graphemes(std::string_view text);
// Whether the text has a letter of Hebrew, Arabic or another script that runs from right to left.
bool has_right_to_left(std::string_view text);
// Makes text from elsewhere safe to print on one line: line ends, tabs and control characters
// become visible signs, and so does a lone space.
std::string printable(std::string_view text);
// As printable(), and isolates text that runs from right to left, so that it does not reorder its
// neighbours.
std::string isolated(std::string_view text);

}  // namespace fovea
