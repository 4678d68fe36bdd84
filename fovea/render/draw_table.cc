// A table as papers print it: rules above and below, none between columns, numbers in line.
#include <algorithm>
#include <memory>

#include "fovea/figure/checks.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kTableSpace = 22;  // between columns
constexpr double kRowSpace = 7;     // between rows
constexpr double kWidestTableLabel = 300, kWidestWords = 320;
constexpr double kTableNotes = 640;  // longer lines are hard to read
constexpr double kTableBar = 90, kTableBarHeight = 7;
constexpr double kGroupIndent = 12;
constexpr TextStyle kTableStyle{.size = 11.5, .color = kInk};
constexpr TextStyle kTableStrong{.size = 11.5, .color = kInk, .strong = true};
constexpr TextStyle kTableMuted{.size = 11.5, .color = kMuted};
constexpr TextStyle kTableHeading{.size = 10.5, .color = kMuted, .strong = true};
constexpr TextStyle kTableDetail{.size = 9.5, .color = kMuted};

const TextStyle& style_of(TableTone tone) {
  return tone == TableTone::kStrong  ? kTableStrong
         : tone == TableTone::kMuted ? kTableMuted
                                     : kTableStyle;
}

TextBlock table_text(const std::string& text, const TextStyle& style, double widest) {
  if (text.empty()) return {};
  TextBlock line = TextBlock::line(text, style);
  return line.width() <= widest ? line : TextBlock::paragraph(text, style, widest);
}

struct PlacedCell {
  TextBlock text, mark, range;
  std::optional<double> share;
};

struct PlacedRow {
  TextBlock group, label;
  std::vector<PlacedCell> cells;
  double top = 0;  // of the label; its group stands above
  double height = 0;
};

struct PlacedColumn {
  TextBlock name, detail;
  double left = 0, text = 0, mark = 0, bar = 0;
  bool words = false;

  double width() const { return text + mark + (bar > 0 ? 10 + bar : 0); }
  double number_right() const { return left + text; }
};

struct TablePlan {
  TableFigure figure;  // by value: drawn later
  Rgb bar_color;
  TextBlock label_name;
  std::vector<PlacedColumn> columns;
  std::vector<PlacedRow> rows;
  std::vector<TextBlock> notes;
  double indent = 0, label_width = 0, width = 0;
  double heading_baseline = 0, heading_bottom = 0, bottom = 0;
};

// A row of text below or beside another has its baseline where that one has it.
double first_baseline() {
  return TextBlock::line("0", kTableStyle).baseline();
}

void place_columns(TablePlan& plan) {
  double left = plan.label_width;
  for (size_t c = 0; c < plan.columns.size(); ++c) {
    PlacedColumn& column = plan.columns[c];
    for (const PlacedRow& row : plan.rows) {
      if (c >= row.cells.size()) continue;
      const PlacedCell& cell = row.cells[c];
      column.text = std::max({column.text, cell.text.width(), cell.range.width()});
      column.mark = std::max(column.mark, cell.mark.width());
      if (cell.share) column.bar = kTableBar;
    }
    const double beyond = column.bar > 0 ? 10 + column.bar : 0;
    column.text =
        std::max({column.text, column.name.width() - beyond, column.detail.width() - beyond});
    if (left > 0) left += kTableSpace;
    column.left = left;
    left += column.width();
  }
  plan.width = left;
}

void place_rows(TablePlan& plan) {
  double name = plan.label_name.height(), detail = 0;
  for (const PlacedColumn& column : plan.columns) {
    name = std::max(name, column.name.height());
    detail = std::max(detail, column.detail.height());
  }
  plan.heading_baseline = 8;
  plan.heading_bottom = name + detail > 0 ? 8 + name + detail + 7 : 0;
  double y = plan.heading_bottom + kRowSpace;
  const double baseline = first_baseline();
  for (size_t r = 0; r < plan.rows.size(); ++r) {
    PlacedRow& row = plan.rows[r];
    if (plan.figure.rows[r].total) y += kRowSpace;
    if (!row.group.empty()) y += (r > 0 ? kRowSpace : 0) + row.group.height() + 4;
    row.top = y;
    row.height = std::max(row.label.height(), baseline + 4);
    for (const PlacedCell& cell : row.cells) {
      row.height = std::max(row.height, cell.text.height() + cell.range.height());
    }
    y += row.height + kRowSpace;
  }
  plan.bottom = y;
}

void draw_table_text(Canvas& canvas, const TextBlock& block, Point at) {
  if (!block.empty()) canvas.text(block, at);
}

void draw_table_cell(Canvas& canvas, const TablePlan& plan, const PlacedColumn& column,
                     const PlacedCell& cell, Point at) {
  if (column.words) return draw_table_text(canvas, cell.text, {at.x + column.left, at.y});
  const double right = at.x + column.number_right();
  draw_table_text(canvas, cell.text, {right - cell.text.width(), at.y});
  draw_table_text(canvas, cell.mark, {right, at.y});
  draw_table_text(canvas, cell.range, {right - cell.range.width(), at.y + cell.text.height()});
  if (!cell.share) return;
  const double left = right + column.mark + 10;
  const double middle = at.y + first_baseline() - cell.text.cap_height() / 2;
  const double top = middle - kTableBarHeight / 2;
  canvas.fill({left, top, column.bar, kTableBarHeight}, kHatchGround);
  const double length = column.bar * std::clamp(*cell.share, 0.0, 1.0);
  if (length > 0) canvas.fill({left, top, length, kTableBarHeight}, plan.bar_color);
}

void draw_table_heading(Canvas& canvas, const TablePlan& plan, Point at) {
  double name_height = plan.label_name.height();
  for (const PlacedColumn& column : plan.columns) {
    name_height = std::max(name_height, column.name.height());
  }
  const double y = at.y + plan.heading_baseline;
  draw_table_text(canvas, plan.label_name, {at.x, y});
  for (const PlacedColumn& column : plan.columns) {
    const auto left = [&](const TextBlock& block) {
      const bool begins = column.words || column.bar > 0;  // over a bar the name begins with it
      return at.x + (begins ? column.left : column.number_right() - block.width());
    };
    draw_table_text(canvas, column.name, {left(column.name), y});
    draw_table_text(canvas, column.detail, {left(column.detail), y + name_height});
  }
}

void draw_table_body(Canvas& canvas, const TablePlan& plan, Point at) {
  const auto rule = [&](double y, const Stroke& stroke) {
    canvas.line({at.x, at.y + y}, {at.x + plan.width, at.y + y}, stroke);
  };
  rule(0, {.color = kInk, .width = 1});
  if (plan.heading_bottom > 0) {
    draw_table_heading(canvas, plan, at);
    rule(plan.heading_bottom, {.color = kInk, .width = 0.5});
  }
  for (size_t r = 0; r < plan.rows.size(); ++r) {
    const PlacedRow& row = plan.rows[r];
    const double y = at.y + row.top;
    if (plan.figure.rows[r].total) {
      rule(row.top - kRowSpace, {.color = kInk, .width = 0.5});
    }
    draw_table_text(canvas, row.group, {at.x, y - row.group.height() - 4});
    draw_table_text(canvas, row.label, {at.x + plan.indent, y});
    for (size_t c = 0; c < row.cells.size(); ++c) {
      draw_table_cell(canvas, plan, plan.columns[c], row.cells[c], {at.x, y});
    }
  }
  rule(plan.bottom, {.color = kInk, .width = 1});
  double y = at.y + plan.bottom + 12;
  for (const TextBlock& note : plan.notes) {
    canvas.text(note, {at.x, y});
    y += note.height() + 5;
  }
}

PlacedRow placed_row(const TableRow& row, const std::vector<TableColumn>& columns) {
  const TextStyle marked{.size = kTableStyle.size, .color = kAccent, .strong = true};
  PlacedRow placed;
  placed.group = table_text(row.group, kTableHeading, kTableNotes);
  placed.label = table_text(row.label, row.marked ? marked : kTableStyle, kWidestTableLabel);
  for (size_t c = 0; c < row.cells.size(); ++c) {
    const TableCell& cell = row.cells[c];
    placed.cells.push_back(
        {.text = table_text(cell.text, style_of(cell.tone), columns[c].words ? kWidestWords : 1e9),
         .mark = table_text(cell.mark, style_of(cell.tone), 1e9),
         .range = table_text(cell.range, kTableDetail, 1e9),
         .share = cell.share});
  }
  return placed;
}

}  // namespace

Body draw_table(const TableFigure& figure, const ColorMap& colors) {
  check_table(figure);
  auto plan = std::make_shared<TablePlan>(TablePlan{.figure = figure, .bar_color = colors.at(0.6)});
  plan->label_name = table_text(figure.label_name, kTableHeading, kWidestTableLabel);
  plan->label_width = plan->label_name.width();
  for (const TableColumn& column : figure.columns) {
    plan->columns.push_back({.name = table_text(column.name, kTableHeading, 1e9),
                             .detail = table_text(column.detail, kTableDetail, 1e9),
                             .words = column.words});
  }
  for (const TableRow& row : figure.rows) {
    plan->rows.push_back(placed_row(row, figure.columns));
    if (!row.group.empty()) plan->indent = kGroupIndent;
  }
  for (const PlacedRow& row : plan->rows) {
    plan->label_width = std::max(plan->label_width, plan->indent + row.label.width());
  }
  place_columns(*plan);
  place_rows(*plan);
  Body body{.width = plan->width, .height = plan->bottom};
  for (const std::string& note : figure.notes) {
    plan->notes.push_back(
        TextBlock::paragraph(note, kNoteStyle, std::clamp(plan->width, 500.0, kTableNotes)));
    body.width = std::max(body.width, plan->notes.back().width());
    body.height += plan->notes.back().height() + (plan->notes.size() == 1 ? 12 : 5);
  }
  body.draw = [plan](Canvas& canvas, Point at) { draw_table_body(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
