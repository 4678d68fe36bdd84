// A map of more than 64 positions a side in the terminal: bins as half blocks, first words of
// paragraphs beside them, sinks in grey.
#pragma once

#include <string>

#include "fovea/cli/terminal.h"
#include "fovea/figure/figure.h"

namespace fovea {

std::string draw_overview(const MatrixFigure& figure, const Terminal& terminal,
                          const ColorMap& colors);

}  // namespace fovea
