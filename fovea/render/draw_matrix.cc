// One matrix with the names of its rows and columns, and a colour bar.

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/render/axis_labels.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kComfortableMatrix = 600;  // the longer side of a map, where cells allow it
constexpr double kNumberedCell = 27;        // of a map with its numbers in the cells
constexpr double kLargestPlainCell = 22;
constexpr double kMostUnits = 1000;  // of a large map; cells are below one unit then
constexpr double kMatrixBarSpace = 24;
constexpr double kBarsGap = 22;
constexpr TextStyle kAxisTitleStyle{.size = 10, .color = kMuted};

double matrix_cell(int64_t rows, int64_t cols) {
  const auto side = static_cast<double>(std::max(rows, cols));
  if (side > kMostUnits) return kMostUnits / side;
  if (std::max(rows, cols) <= kNumberedMap) return kNumberedCell;
  return std::clamp(std::floor(kComfortableMatrix / side), 1.0, kLargestPlainCell);
}

void check_chosen(std::optional<int64_t> chosen, int64_t count, std::string_view what) {
  if (chosen && (*chosen < 0 || *chosen >= count)) {
    fail(ErrorKind::kInvalidArgument, "the chosen {} is {} but there are {}", what, *chosen, count);
  }
}

struct MatrixPlan {
  MatrixFigure figure;
  CellColors colors;
  double cell;
  RowLabels row_labels;
  ColumnLabels column_labels;
  TextBlock row_title;
  TextBlock column_title;
  ColorBar bar;
  std::optional<ColorBar> grey_bar;  // of columns that are grey

  double bars_width() const { return std::max(bar.width(), grey_bar ? grey_bar->width() : 0); }
  double bars_height() const {
    return bar.height() + (grey_bar ? kBarsGap + grey_bar->height() : 0);
  }
  double map_width() const { return static_cast<double>(figure.weights.size(1)) * cell; }
  double map_height() const { return static_cast<double>(figure.weights.size(0)) * cell; }
  double map_left() const { return row_title.height() + 8 + row_labels.width(); }
  double map_top() const { return column_title.height() + 6 + column_labels.height(); }
};

// The step of the last decimal: two decimals, more if all weights are small.
double number_step(const ColorAxis& axis) {
  const double largest = std::max(std::abs(axis.low()), std::abs(axis.high()));
  return largest >= 0.1 ? 0.01 : largest >= 0.01 ? 0.001 : 0.0001;
}

// A value that would be written as 0 is not written: half of the cells would say nothing. Shares
// leave out their zero: ".72".
std::string cell_text(float value, double step) {
  if (std::abs(value) < step / 2) return "";
  if (std::abs(value - 1) < step / 2) return "1";
  // tick_text() changes to powers of ten below 0.0001, which 0.00009 must not.
  std::string text = tick_text(step < 0.01 ? std::round(value / step) * step : value, step);
  if (const size_t zero = text.find("0."); zero != text.npos && std::abs(value) < 1) {
    text.erase(zero, 1);
  }
  return text;
}

void draw_numbers(Canvas& canvas, const MatrixPlan& plan, Point corner) {
  const auto weights = plan.figure.weights.matrix<float>();
  const double step = number_step(plan.colors.axis);
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float value = weights(r, c);
      if (std::isnan(value)) continue;
      const TextStyle style{.size = 8.5, .color = text_color_on(plan.colors.at(value, c))};
      const TextBlock number = TextBlock::line(cell_text(value, step), style);
      const Point middle{corner.x + (static_cast<double>(c) + 0.5) * plan.cell,
                         corner.y + (static_cast<double>(r) + 0.5) * plan.cell};
      canvas.text(number, {middle.x - number.width() / 2,
                           middle.y + number.cap_height() / 2 - number.baseline()});
    }
  }
}

// Rings on marked cells; dark or light, whichever the cell is not.
void draw_marks(Canvas& canvas, const MatrixPlan& plan, Point corner) {
  const auto weights = plan.figure.weights.matrix<float>();
  const double diameter = std::max(plan.cell * 0.5, 2.0);
  for (const CellMark& mark : plan.figure.marks) {
    const float value = weights(mark.row, mark.col);
    const Rgb ground = std::isnan(value) ? kHatchGround : plan.colors.at(value, mark.col);
    const double inset = (plan.cell - diameter) / 2;
    const Rect ring{corner.x + static_cast<double>(mark.col) * plan.cell + inset,
                    corner.y + static_cast<double>(mark.row) * plan.cell + inset, diameter,
                    diameter};
    canvas.outline(ring,
                   {.color = text_color_on(ground), .width = std::clamp(plan.cell / 12, 0.75, 2.0)},
                   diameter / 2);
  }
}

void draw_matrix_plan(Canvas& canvas, const MatrixPlan& plan, Point at) {
  const MatrixFigure& figure = plan.figure;
  const Point corner = on_grid({at.x + plan.map_left(), at.y + plan.map_top()});
  canvas.text(plan.column_title, {corner.x, at.y});
  canvas.rotated_text(plan.row_title,
                      {at.x + plan.row_title.baseline(), corner.y + plan.row_title.width()}, 90);
  const Rect map{corner.x, corner.y, plan.map_width(), plan.map_height()};
  draw_cells(canvas, figure.weights.matrix<float>(), plan.colors, corner, plan.cell);
  draw_map_frame(canvas, map);
  if (figure.marks.empty() && plan.cell >= kNumberCell) draw_numbers(canvas, plan, corner);
  draw_marks(canvas, plan, corner);
  if (figure.chosen_row) draw_choice(canvas, map, plan.cell, *figure.chosen_row, false);
  if (figure.chosen_col) draw_choice(canvas, map, plan.cell, *figure.chosen_col, true);
  plan.row_labels.draw(canvas, corner);
  plan.column_labels.draw(canvas, corner);
  const Point bars{corner.x + plan.map_width() + kMatrixBarSpace, corner.y};
  plan.bar.draw(canvas, bars);
  if (plan.grey_bar) plan.grey_bar->draw(canvas, {bars.x, bars.y + plan.bar.height() + kBarsGap});
}

}  // namespace

Body draw_matrix(const MatrixFigure& figure, const ColorMap& colors) {
  if (figure.overview) return draw_long_matrix(figure, colors);
  const auto rows = static_cast<int64_t>(figure.rows.positions.size());
  const auto cols = static_cast<int64_t>(figure.cols.positions.size());
  check_matrix(figure.weights, rows, cols, "the matrix");
  check_chosen(figure.chosen_row, rows, "row");
  check_chosen(figure.chosen_col, cols, "column");
  for (const CellMark& mark : figure.marks) {
    check_chosen(mark.row, rows, "row");
    check_chosen(mark.col, cols, "column");
  }
  const ColorAxis axis(colors, figure.scale);
  const double cell = matrix_cell(rows, cols);
  const double map_height = static_cast<double>(rows) * cell;
  const bool two = !figure.grey.empty();
  const double bar_height = two ? std::clamp(0.5 * map_height - 40, 70.0, 150.0)
                                : std::clamp(map_height - 20, 90.0, 240.0);
  const std::string row_title =
      figure.row_title.empty() ? figure.rows.name + ", attending" : figure.row_title;
  const std::string column_title =
      figure.col_title.empty() ? figure.cols.name + ", attended to" : figure.col_title;
  auto plan = std::make_shared<MatrixPlan>(MatrixPlan{
      .figure = figure,
      .colors = {axis, figure.grey},
      .cell = cell,
      .row_labels = RowLabels(figure.rows, cell, figure.chosen_row, figure.row_place),
      .column_labels = ColumnLabels(figure.cols, cell, figure.chosen_col, figure.col_place),
      .row_title = TextBlock::line(row_title, kAxisTitleStyle),
      .column_title = TextBlock::line(column_title, kAxisTitleStyle),
      .bar = ColorBar(axis, figure.value_name, bar_height,
                      forbidden_key(has_forbidden(figure.weights.matrix<float>()), rows, cols))});
  if (two) {
    plan->grey_bar.emplace(plan->colors.grey_axis, figure.grey_name, 0.6 * bar_height,
                           ForbiddenKey::kNone);
  }
  Body body;
  body.cell = cell;
  body.width = plan->map_left() + plan->map_width() +
               std::max(plan->column_labels.overhang(), kMatrixBarSpace + plan->bars_width());
  body.width = std::max(body.width, plan->map_left() + plan->column_title.width());
  body.height = plan->map_top() +
                std::max({plan->map_height(), plan->bars_height(), plan->row_title.width()});
  body.draw = [plan](Canvas& canvas, Point at) { draw_matrix_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
