// Small multiples: one small matrix per head, all on one scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "fovea/base/error.h"
#include "fovea/render/axis_labels.h"
#include "fovea/render/canvas.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kComfortableHeads = 880;  // the width of all panels together, where cells allow it
constexpr double kUsualHeadCell = 11;
constexpr double kLargestHeadCell = 20;  // of panels of a few cells
constexpr double kTitledHead = 120;      // units in which its title has room
constexpr double kSmallestHead = 64;
constexpr double kHeadBarsGap = 22;
constexpr TextStyle kGreyShareStyle{.size = 8.5, .color = kMuted};
constexpr double kHeadsBarSpace = 28;
constexpr TextStyle kHeadsHeaderStyle{.size = 10.5, .color = kMuted};

// "layer 2 · head 3" in a grid of layers and heads is said once per line and once per column.
struct Headers {
  std::vector<TextBlock> lines;
  std::vector<TextBlock> columns;
};

std::pair<std::string, std::string> halves(const std::string& title) {
  constexpr std::string_view kMark = " \u00b7 ";
  const size_t at = title.find(kMark);
  if (at == std::string::npos) return {"", title};
  return {title.substr(0, at), title.substr(at + kMark.size())};
}

std::optional<Headers> shared_headers(const HeadsFigure& figure) {
  const auto across = static_cast<size_t>(figure.panels_across);
  if (figure.panels.size() <= across) return std::nullopt;
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const auto [line, column] = halves(figure.panels[i].title);
    if (line.empty() || line != halves(figure.panels[i - i % across].title).first ||
        column != halves(figure.panels[i % across].title).second) {
      return std::nullopt;
    }
  }
  Headers headers;
  for (size_t i = 0; i < across; ++i) {
    headers.columns.push_back(
        TextBlock::line(halves(figure.panels[i].title).second, kHeadsHeaderStyle));
  }
  for (size_t i = 0; i < figure.panels.size(); i += across) {
    headers.lines.push_back(
        TextBlock::line(halves(figure.panels[i].title).first, kHeadsHeaderStyle));
  }
  return headers;
}

struct HeadsPlan {
  HeadsFigure figure;  // by value: drawn later; tensors are shared
  ColorAxis axis;
  double cell = 0;
  int64_t across = 0;
  int64_t down = 0;
  double gap_x = 0;
  double gap_y = 0;
  std::optional<Headers> headers;
  std::vector<TextBlock> titles;  // without headers
  std::optional<RowLabels> row_labels;
  std::optional<ColumnLabels> column_labels;
  std::vector<TextBlock> shares;  // at the right of each title: how much is grey; may be empty
  TextBlock note;
  std::optional<ColorBar> bar, grey_bar;

  double bars_height() const {
    return bar->height() + (grey_bar ? kHeadBarsGap + grey_bar->height() : 0);
  }
  double bars_width() const { return std::max(bar->width(), grey_bar ? grey_bar->width() : 0); }

  // Below the panels, and where these are narrow below the colour bar too.
  double note_top() const {
    const bool beside = note.width() <= map_width() + kHeadsBarSpace / 2;
    return (beside ? map_height() : std::max(map_height(), title_height() + bars_height())) + 8;
  }

  double panel_width() const { return static_cast<double>(figure.cols.positions.size()) * cell; }
  double panel_height() const { return static_cast<double>(figure.rows.positions.size()) * cell; }
  double left() const {
    double width = row_labels ? row_labels->width() : 0;
    if (headers) {
      double widest = 0;
      for (const TextBlock& line : headers->lines) widest = std::max(widest, line.width());
      width += widest + 10;
    }
    return width;
  }
  double header_height() const { return headers ? headers->columns[0].height() + 6 : 0; }
  double title_height() const { return titles.empty() ? 0 : titles[0].height() + 5; }
  double labels_height() const { return column_labels ? column_labels->height() : 0; }
  double top() const { return header_height() + labels_height(); }
  double map_width() const { return static_cast<double>(across) * (panel_width() + gap_x) - gap_x; }
  double map_height() const {
    return static_cast<double>(down) * (panel_height() + title_height() + gap_y) - gap_y;
  }
};

void draw_heads_plan(Canvas& canvas, const HeadsPlan& plan, Point at) {
  const HeadsFigure& figure = plan.figure;
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const auto line = static_cast<int64_t>(i) / plan.across;
    const auto column = static_cast<int64_t>(i) % plan.across;
    const double x =
        at.x + plan.left() + static_cast<double>(column) * (plan.panel_width() + plan.gap_x);
    double y = at.y + plan.top() +
               static_cast<double>(line) * (plan.panel_height() + plan.title_height() + plan.gap_y);
    if (!plan.titles.empty()) {
      const double top = y - (line == 0 ? plan.labels_height() : 0);
      canvas.text(plan.titles[i], {x, top});
      const TextBlock& share = plan.shares[i];
      const bool fits = plan.titles[i].width() + 8 + share.width() <= plan.panel_width();
      if (!share.empty() && fits) {
        canvas.text(share, {x + plan.panel_width() - share.width(),
                            top + plan.titles[i].baseline() - share.baseline()});
      }
    }
    y += plan.title_height();
    const Point corner = on_grid({x, y});
    draw_cells(canvas, figure.panels[i].weights.matrix<float>(), {plan.axis, figure.panels[i].grey},
               corner, plan.cell);
    draw_map_frame(canvas, {corner.x, corner.y, plan.panel_width(), plan.panel_height()});
    if (plan.column_labels && line == 0) plan.column_labels->draw(canvas, corner);
    if (plan.row_labels && column == 0) plan.row_labels->draw(canvas, corner);
    if (plan.headers && line == 0) {
      const TextBlock& header = plan.headers->columns[static_cast<size_t>(column)];
      canvas.text(header, {x + plan.panel_width() / 2 - header.width() / 2, at.y});
    }
    if (plan.headers && column == 0) {
      const TextBlock& header = plan.headers->lines[static_cast<size_t>(line)];
      canvas.text(header, {at.x, y + plan.panel_height() / 2 + header.cap_height() / 2 -
                                     header.baseline()});
    }
  }
  canvas.text(plan.note, {at.x + plan.left(), at.y + plan.top() + plan.note_top()});
  const Point bars{at.x + plan.left() + plan.map_width() + kHeadsBarSpace,
                   at.y + plan.top() + plan.title_height()};
  plan.bar->draw(canvas, bars);
  if (plan.grey_bar) {
    plan.grey_bar->draw(canvas, {bars.x, bars.y + plan.bar->height() + kHeadBarsGap});
  }
}

double panel_cell(const HeadsFigure& figure) {
  const auto rows = static_cast<double>(figure.rows.positions.size());
  const auto cols = static_cast<double>(figure.cols.positions.size());
  const double room = kComfortableHeads / static_cast<double>(figure.panels_across);
  const double longest = std::max(rows, cols);
  const double cell = std::min(room / cols, 220 / longest);
  const double most = std::clamp(kTitledHead / cols, kUsualHeadCell, kLargestHeadCell);
  if (cell >= 1) return std::floor(std::min(cell, most));
  return std::min(1.0, std::max(cell, kSmallestHead / longest));
}

}  // namespace

Body draw_heads(const HeadsFigure& figure, const ColorMap& colors) {
  if (figure.overview) return draw_head_overview(figure, colors);
  const auto rows = static_cast<int64_t>(figure.rows.positions.size());
  const auto cols = static_cast<int64_t>(figure.cols.positions.size());
  if (figure.panels.empty() || figure.panels_across < 1) {
    fail(ErrorKind::kInvalidArgument, "{} panels, {} across, cannot be drawn; give one or more",
         figure.panels.size(), figure.panels_across);
  }
  bool forbidden = false;
  for (const MapPanel& panel : figure.panels) {
    check_matrix(panel.weights, rows, cols, panel.title);
    forbidden = forbidden || has_forbidden(panel.weights.matrix<float>());
  }
  const auto count = static_cast<int64_t>(figure.panels.size());
  auto plan =
      std::make_shared<HeadsPlan>(HeadsPlan{.figure = figure, .axis = {colors, figure.scale}});
  plan->cell = panel_cell(figure);
  plan->across = std::min(figure.panels_across, count);
  plan->down = (count + plan->across - 1) / plan->across;
  plan->headers = shared_headers(figure);
  plan->gap_x = plan->headers ? 8 : 16;
  plan->gap_y = plan->headers ? 8 : 16;
  if (!plan->headers) {
    for (const MapPanel& panel : figure.panels) {
      plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle));
      plan->shares.push_back(
          panel.grey.empty()
              ? TextBlock()
              : TextBlock::line(fmt::format("grey {:.0f} %", 100 * panel.apart), kGreyShareStyle));
    }
  }
  if (plan->cell >= kUprightCell) {
    plan->row_labels.emplace(figure.rows, plan->cell, std::nullopt);
    plan->column_labels.emplace(figure.cols, plan->cell, std::nullopt);
  }
  plan->note = TextBlock::line(
      fmt::format("Each panel: {} rows ({}, attending) \u00d7 {} columns ({}, attended to)", rows,
                  figure.rows.name, cols, figure.cols.name),
      kNoteStyle);
  const bool two =
      std::ranges::any_of(figure.panels, [](const MapPanel& panel) { return !panel.grey.empty(); });
  const double bar_height = two ? std::clamp(0.5 * plan->map_height() - 40, 70.0, 150.0)
                                : std::clamp(plan->map_height() - 20, 90.0, 240.0);
  plan->bar.emplace(plan->axis, figure.value_name, bar_height,
                    forbidden_key(forbidden, rows, cols));
  if (two) {
    plan->grey_bar.emplace(ColorAxis(grey_colors(), {0, 1}), figure.grey_name, 0.6 * bar_height,
                           ForbiddenKey::kNone);
  }
  Body body;
  body.cell = plan->cell;
  const double overhang = plan->column_labels ? plan->column_labels->overhang() : 0;
  body.width = plan->left() +
               std::max(plan->map_width() + std::max(overhang, kHeadsBarSpace + plan->bars_width()),
                        plan->note.width());
  body.height = plan->top() + std::max(plan->note_top() + plan->note.height(),
                                       plan->title_height() + plan->bars_height());
  body.draw = [plan](Canvas& canvas, Point at) { draw_heads_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
