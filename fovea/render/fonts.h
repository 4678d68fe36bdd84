// The fonts of figures: Inter, which is part of the program, so that a figure looks the same
// everywhere; and the system's fonts for the scripts that Inter lacks.
//
// Nothing is set up before the first text. Not thread-safe: figures are drawn one at a time
// (figure_file.cc holds the lock).
#pragma once

#include <pango/pango.h>

#include <string>
#include <string_view>

namespace fovea {

// True if Inter has all characters of the text; then the system's fonts are not even looked for.
bool shipped_font_covers(std::string_view text);
// Where layouts of this text are made. Owned by this file.
PangoContext* font_context(std::string_view text);
PangoFontDescription* new_font_description(double size, bool strong);
// "Inter" for ours.
std::string family_name(PangoFont* font);

}  // namespace fovea
