// Figures one below the other, those with headings side by side where they fit.
#include <algorithm>

#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kBetweenParts = 26;
constexpr double kBesideParts = 36;
constexpr double kWidestSheet = 1100;  // of parts side by side
constexpr double kBelowHeading = 8;
constexpr TextStyle kHeadingStyle{.size = 12.5, .color = kInk, .strong = true};

Body heading_of(const std::string& heading) {
  const TextBlock block = TextBlock::line(heading, kHeadingStyle);
  return {.width = block.width(),
          .height = block.height(),
          .draw = [block](Canvas& canvas, Point at) { canvas.text(block, at); }};
}

Body side_by_side(Body left, Body right) {
  Body both{.width = left.width + kBesideParts + right.width,
            .height = std::max(left.height, right.height),
            .cell = left.cell > 0 && right.cell > 0 ? std::min(left.cell, right.cell)
                                                    : std::max(left.cell, right.cell)};
  both.draw = [left = std::move(left), right = std::move(right)](Canvas& canvas, Point at) {
    left.draw(canvas, at);
    right.draw(canvas, {at.x + left.width + kBesideParts, at.y});
  };
  return both;
}

// Figures without weights have colours of their own.
struct DrawFigure {
  std::string_view name;
  const ColorMap& colors;

  Body operator()(const LinesFigure& figure) const { return draw_lines(figure, colors); }
  Body operator()(const DotsFigure& figure) const { return draw_dots(figure); }
  Body operator()(const CurvesFigure& figure) const { return draw_curves(figure); }
  Body operator()(const CompositeFigure& figure) const { return draw_composite(figure); }
  Body operator()(const AlignFigure& figure) const {
    return draw_matrix(as_matrix(figure), colors);
  }
  Body operator()(const MatrixFigure& figure) const { return draw_matrix(figure, colors); }
  Body operator()(const HeadsFigure& figure) const { return draw_heads(figure, colors); }
  Body operator()(const ReadFigure& figure) const { return draw_read(figure, colors); }
  Body operator()(const ReadingFigure& figure) const { return draw_reading(figure, colors); }
  Body operator()(const StepsFigure& figure) const { return draw_steps(figure, colors); }
  Body operator()(const ImageFigure& figure) const { return draw_image(figure, colors); }
  Body operator()(const KernelsFigure& figure) const { return draw_kernels(figure, colors); }
  Body operator()(const TableFigure& figure) const { return draw_table(figure, colors); }
  Body operator()(const SheetFigure& figure) const { return draw_sheet(figure, name); }
};

}  // namespace

Body draw_sheet(const SheetFigure& figure, std::string_view colors) {
  std::vector<Body> lines;
  bool goes_on = false;  // whether the last line takes more
  for (const SheetPart& part : figure.parts) {
    Body body = draw_figure(part.figure, colors);
    const bool headed = !part.heading.empty();
    if (headed) body = stacked({heading_of(part.heading), std::move(body)}, kBelowHeading);
    if (headed && goes_on && lines.back().width + kBesideParts + body.width <= kWidestSheet) {
      lines.back() = side_by_side(std::move(lines.back()), std::move(body));
    } else {
      lines.push_back(std::move(body));
    }
    goes_on = headed;
  }
  return stacked(std::move(lines), kBetweenParts);
}

Body draw_figure(const Figure& figure, std::string_view colors) {
  return std::visit(DrawFigure{colors, colors_of(figure, colors)}, figure);
}

}  // namespace fovea
