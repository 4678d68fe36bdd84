// Figures in the terminal: coloured cells in 24-bit or 256 colours, shades and numbers without.
// No line is wider than the terminal; each drawing ends with its caption and a legend.
#pragma once

#include <string>

#include "fovea/cli/terminal.h"
#include "fovea/figure/figure.h"

namespace fovea {

// With numbers where there is room, as blocks where not; a matrix larger than the screen shows the
// largest weight of each group of cells and says so.
std::string draw(const MatrixFigure& figure, const Terminal& terminal, const ColorMap& colors);
// The same, links between source and target marked.
std::string draw(const AlignFigure& figure, const Terminal& terminal, const ColorMap& colors);
// Small multiples, as many next to each other as fit.
std::string draw(const HeadsFigure& figure, const Terminal& terminal, const ColorMap& colors);
// The text with its words shaded and the chosen one marked, then the five largest weights.
std::string draw(const ReadFigure& figure, const Terminal& terminal, const ColorMap& colors);
// The same for every word in turn, without the lists.
std::string draw(const ReadingFigure& figure, const Terminal& terminal, const ColorMap& colors);
// For each head and token the largest weights until `mass` is reached, as text.
std::string draw(const LinesFigure& figure, const Terminal& terminal, const ColorMap& colors);

// Stage by stage: its formula, one sentence and its tables; those of one column that follow each
// other stand in one table.
std::string draw(const StepsFigure& figure, const Terminal& terminal, const ColorMap& colors);
// The picture and its maps, two pixels in each character where there are colours, shades of the
// maps alone where not.
std::string draw(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors);
// Small multiples, and a table of mean offset and spread.
std::string draw(const KernelsFigure& figure, const Terminal& terminal, const ColorMap& colors);
// A table.
std::string draw(const DotsFigure& figure, const Terminal& terminal, const ColorMap& colors);
// A table of points, one block for each panel.
std::string draw(const CurvesFigure& figure, const Terminal& terminal, const ColorMap& colors);
// Patches in the colours of their owners; without colours as their numbers.
std::string draw(const CompositeFigure& figure, const Terminal& terminal, const ColorMap& colors);
// As many columns as fit beside the labels, the others in blocks below.
std::string draw(const TableFigure& figure, const Terminal& terminal, const ColorMap& colors);

}  // namespace fovea
