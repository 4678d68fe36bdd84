// Letters that no font on this machine has. A box in their place would say nothing, so a figure
// with them is refused; the error names a package that has them.
#pragma once

#include <pango/pango.h>

#include <string>

namespace fovea {

// The text with what can have no letter, private and unassigned characters, as "U+E000".
std::string with_named_characters(const std::string& text);

// Throws Error{kNotFound} where fonts lack a character of the layout's text.
void check_glyphs(PangoLayout* layout);

}  // namespace fovea
