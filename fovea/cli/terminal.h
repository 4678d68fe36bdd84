// The terminal that results are printed to: its width, its colours, and writing to it.
#pragma once

#include <string>
#include <string_view>

#include "fovea/base/utf8.h"
#include "fovea/figure/color_map.h"

namespace fovea {

enum class ColorMode { kNone, k256, kTrue };

struct Terminal {
  int width = 80;
  ColorMode colors = ColorMode::kNone;

  bool has_color() const { return colors != ColorMode::kNone; }

  // Text in a style, or unchanged where there is no colour.
  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  std::string accent(std::string_view text) const;  // formulas
  std::string marked(std::string_view text) const;  // what the user chose: red, bold, underlined
  // Black or white letters on a colour; in 256 colours on the nearest one.
  std::string on(Rgb background, std::string_view text) const;
  std::string ink(Rgb letters, std::string_view text) const;
  std::string painted(Rgb letters, Rgb background, std::string_view text) const;
};

// The nearest of the 240 colours that every 256-colour terminal shows alike, 16 to 255.
int nearest_256(Rgb color);

// Standard output: its width if it is a terminal, else COLUMNS, else 80. Colours if it is a
// terminal, or FORCE_COLOR is set: 24-bit if COLORTERM says truecolor or 24bit, or FORCE_COLOR is
// 3, else 256; none if NO_COLOR (no-color.org) is set or TERM names no colour terminal.
Terminal stdout_terminal();

// Adds a line to stderr just before the result: it waits until something is written. If an error
// comes instead, the line is dropped, because an error is one line.
void add_note(std::string text);
void write_notes();  // writes waiting notes now

// Writes after the notes that wait. Throws Error{kIo} if not all can be written, for example to a
// full disk.
void write_stdout(std::string_view text);

}  // namespace fovea
