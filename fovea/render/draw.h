// The drawing of each kind of figure, without its frame. All throw Error{kInvalidArgument} on
// figures whose parts do not fit together.
#pragma once

#include "fovea/render/frame.h"

namespace fovea {

Body draw_matrix(const MatrixFigure& figure, const ColorMap& colors);
// Of more than 64 positions a side: paragraphs and numbers beside it in place of names.
Body draw_long_matrix(const MatrixFigure& figure, const ColorMap& colors);
Body draw_heads(const HeadsFigure& figure, const ColorMap& colors);
// Of long maps: many panels without names, with what kind each head is.
Body draw_head_overview(const HeadsFigure& figure, const ColorMap& colors);
Body draw_read(const ReadFigure& figure, const ColorMap& colors);
Body draw_reading(const ReadingFigure& figure, const ColorMap& colors);
Body draw_lines(const LinesFigure& figure, const ColorMap& colors);
// Where each head has a panel of its own.
Body draw_line_panels(const LinesFigure& figure, const ColorMap& colors);
Body draw_steps(const StepsFigure& figure, const ColorMap& colors);
Body draw_image(const ImageFigure& figure, const ColorMap& colors);        // any layout
Body draw_around(const ImageFigure& figure, const ColorMap& colors);       // kAround only
Body draw_image_sheet(const ImageFigure& figure, const ColorMap& colors);  // kSheet only
Body draw_parts(const ImageFigure& figure, const ColorMap& colors);        // kParts only
Body draw_kernels(const KernelsFigure& figure, const ColorMap& colors);
Body draw_dots(const DotsFigure& figure);
Body draw_curves(const CurvesFigure& figure);
Body draw_composite(const CompositeFigure& figure);
Body draw_table(const TableFigure& figure, const ColorMap& colors);
// Each part in the colours of that name, or in those that suit it.
Body draw_sheet(const SheetFigure& figure, std::string_view colors);

// Any of them. `colors` as encode_figure() takes it.
Body draw_figure(const Figure& figure, std::string_view colors);

}  // namespace fovea
