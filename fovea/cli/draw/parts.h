// A picture in parts in the terminal: small pictures of what each part attends to, as many across
// as there are parts.
#pragma once

#include <string>

#include "fovea/cli/terminal.h"
#include "fovea/figure/figure.h"

namespace fovea {

std::string draw_parts(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors);

}  // namespace fovea
