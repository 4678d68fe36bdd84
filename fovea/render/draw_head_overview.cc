// Many heads of a long text at once: layers across and heads down, or the heads of one layer. What
// is drawn apart is a grey gauge, and a sign says what kind each head is.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/figure/head_marks.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kWidestGrid = 1500;  // with larger cells, panels stay below this either way
constexpr double kOverviewGap = 4;
constexpr double kOverviewBarSpace = 24;
constexpr double kLargePanel = 120;  // has room for names and numbers
constexpr double kSignGap = 3;
constexpr Rgb kGaugeColor{96, 96, 104};
constexpr TextStyle kGridStyle{.size = 9, .color = kInk};
constexpr TextStyle kGridNameStyle{.size = 9.5, .color = kMuted};
constexpr TextStyle kOverviewTitleStyle{.size = 10, .strong = true};
constexpr TextStyle kOverviewKindStyle{.size = 9, .color = kMuted};
constexpr TextStyle kLegendStyle{.size = 9, .color = kMuted};

// "head 0 · layer 12": in a grid, numbers beside its lines and above its columns.
struct GridTitles {
  std::vector<TextBlock> lines, columns;
  TextBlock line_name, column_name;
};

std::string_view last_word(std::string_view text) {
  const size_t space = text.rfind(' ');
  return space == text.npos ? text : text.substr(space + 1);
}

std::optional<GridTitles> grid_titles(const HeadsFigure& figure) {
  constexpr std::string_view kJoint = " · ";
  if (figure.panels.front().title.find(kJoint) == std::string::npos) return {};
  GridTitles titles;
  const auto across = static_cast<size_t>(figure.panels_across);
  const auto half = [&](size_t panel, bool second) {
    const std::string_view title = figure.panels[panel].title;
    const size_t at = title.find(kJoint);
    return second ? title.substr(at + kJoint.size()) : title.substr(0, at);
  };
  for (size_t i = 0; i < across; ++i) {
    titles.columns.push_back(TextBlock::line(last_word(half(i, true)), kGridStyle));
  }
  for (size_t i = 0; i < figure.panels.size(); i += across) {
    titles.lines.push_back(TextBlock::line(last_word(half(i, false)), kGridStyle));
  }
  const auto name_of_half = [&](bool second) {
    const std::string_view text = half(0, second);
    return TextBlock::line(text.substr(0, text.rfind(' ')), kGridNameStyle);
  };
  titles.line_name = name_of_half(false);
  titles.column_name = name_of_half(true);
  return titles;
}

struct LegendLine {
  const HeadMark* mark = nullptr;
  TextBlock sign, text;
};

struct OverviewPlan {
  HeadsFigure figure;  // by value: drawn later
  ColorAxis axis;
  double cell = 1;
  std::optional<GridTitles> grid;
  std::vector<LegendLine> legend;
  TextBlock gauge_name;  // empty: no panel has a gauge
  std::optional<ColorBar> bar;

  bool is_large() const { return panel_width() >= kLargePanel; }
  // Above a panel where nothing is free in it.
  double head_room() const {
    return grid ? (figure.causal ? 0 : 11) : kOverviewTitleStyle.size * 1.4 + 4;
  }
  double panel_width() const { return static_cast<double>(figure.cols.positions.size()) * cell; }
  double panel_height() const { return static_cast<double>(figure.rows.positions.size()) * cell; }
  double gap() const { return grid ? kOverviewGap : 16; }
  double left() const {
    if (!grid) return 0;
    double widest = 0;
    for (const TextBlock& line : grid->lines) widest = std::max(widest, line.width());
    return grid->line_name.width() + 5 + widest + 7;
  }
  double top() const {
    return grid ? grid->column_name.height() + 3 + kGridStyle.size * 1.4 + 4 : 0;
  }
  int64_t down() const {
    return (std::ssize(figure.panels) + figure.panels_across - 1) / figure.panels_across;
  }
  double map_width() const {
    return static_cast<double>(figure.panels_across) * (panel_width() + gap()) - gap();
  }
  double map_height() const {
    return static_cast<double>(down()) * (panel_height() + head_room() + gap()) - gap();
  }
  double legend_top() const { return bar->height() + 16; }
  double side_width() const {
    double width = std::max(bar->width(), gauge_name.empty() ? 0 : 14 + gauge_name.width());
    for (const LegendLine& line : legend) width = std::max(width, 14 + line.text.width());
    return width;
  }
  double legend_height() const {
    const double lines = static_cast<double>(legend.size()) + (gauge_name.empty() ? 0 : 2);
    return lines * kLegendStyle.size * 1.6;
  }
};

// What kinds there are, the most heads first.
std::vector<LegendLine> legend_of(const HeadsFigure& figure) {
  std::map<const HeadMark*, int64_t> counts;
  for (const MapPanel& panel : figure.panels) {
    if (!panel.kind.empty()) ++counts[find_head_mark(panel.kind)];
  }
  std::vector<std::pair<int64_t, const HeadMark*>> order;
  for (const auto& [mark, count] : counts) order.emplace_back(mark == nullptr ? 0 : count, mark);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    return a.second != nullptr && b.second != nullptr && a.second->kind < b.second->kind;
  });
  std::vector<LegendLine> legend;
  for (const auto& [unused, mark] : order) {
    LegendLine line{.mark = mark};
    const std::string_view name = mark == nullptr ? "mixed" : mark->kind;
    line.text = TextBlock::line(fmt::format("{} {}", name, counts[mark]), kLegendStyle);
    if (mark != nullptr) {
      line.sign = TextBlock::line(
          mark->sign, {.size = 9, .color = category_color(mark->color), .strong = true});
    }
    legend.push_back(std::move(line));
  }
  return legend;
}

void draw_gauge(Canvas& canvas, const Rect& frame, double share, bool upright) {
  canvas.fill(frame, kWhite);
  const Rect filled = upright ? Rect{frame.x, frame.y + frame.height * (1 - share), frame.width,
                                     frame.height * share}
                              : Rect{frame.x, frame.y, frame.width * share, frame.height};
  canvas.fill(filled, kGaugeColor);
  canvas.outline(frame, {.color = kGaugeColor, .width = 0.4});
}

// The gauge and the sign of a small panel: in its free corner, or above it.
void draw_panel_signs(Canvas& canvas, const OverviewPlan& plan, const MapPanel& panel,
                      Point corner) {
  const HeadMark* mark = find_head_mark(panel.kind);
  const double right = corner.x + plan.panel_width();
  if (plan.figure.causal) {
    if (panel.apart > 0) draw_gauge(canvas, {right - 7, corner.y + 3, 4, 18}, panel.apart, true);
  } else if (panel.apart > 0) {
    draw_gauge(canvas, {right - 18, corner.y - 8, 18, 4}, panel.apart, false);
  }
  if (mark == nullptr) return;
  const TextBlock sign = TextBlock::line(
      mark->sign, {.size = 8, .color = category_color(mark->color), .strong = true});
  const Point at = plan.figure.causal ? Point{right - 7 - kSignGap - sign.width(), corner.y + 3}
                                      : Point{corner.x + 1, corner.y - 2 - sign.cap_height()};
  canvas.text(sign, {at.x, at.y + sign.cap_height() - sign.baseline()});
}

// The name of a panel that stands alone: its kind at the right, its gauge with a number.
void draw_panel_title(Canvas& canvas, const OverviewPlan& plan, const MapPanel& panel,
                      Point corner) {
  const TextBlock title = TextBlock::line(panel.title, kOverviewTitleStyle);
  const double top = corner.y - plan.head_room();
  canvas.text(title, {corner.x, top});
  const double right = corner.x + plan.panel_width();
  const TextBlock kind =
      TextBlock::line(panel.kind, kOverviewKindStyle, plan.panel_width() - title.width() - 10);
  const double line = top + title.baseline() - kind.baseline();
  if (!panel.kind.empty()) canvas.text(kind, {right - kind.width(), line});
  if (panel.apart <= 0 || !plan.figure.causal) return;
  draw_gauge(canvas, {right - 10, corner.y + 6, 5, 26}, panel.apart, true);
  const TextBlock number =
      TextBlock::line(fmt::format("{:.0f} %", 100 * panel.apart), kOverviewKindStyle);
  canvas.text(number, {right - 14 - number.width(), corner.y + 32 - number.baseline()});
}

void draw_grid_titles(Canvas& canvas, const OverviewPlan& plan, Point at) {
  const GridTitles& grid = *plan.grid;
  const double x = at.x + plan.left(), y = at.y + plan.top();
  canvas.text(grid.column_name, {x, at.y});
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    const double middle =
        x + static_cast<double>(i) * (plan.panel_width() + plan.gap()) + plan.panel_width() / 2;
    canvas.text(grid.columns[i],
                {middle - grid.columns[i].width() / 2, at.y + grid.column_name.height() + 3});
  }
  for (size_t i = 0; i < grid.lines.size(); ++i) {
    const double middle =
        y + plan.head_room() + plan.panel_height() / 2 +
        static_cast<double>(i) * (plan.panel_height() + plan.head_room() + plan.gap());
    const auto text_top = [&](const TextBlock& text) {
      return middle + text.cap_height() / 2 - text.baseline();
    };
    const TextBlock& line = grid.lines[i];
    canvas.text(line, {x - 7 - line.width(), text_top(line)});
    if (i == 0)
      canvas.text(grid.line_name,
                  {x - 7 - line.width() - 5 - grid.line_name.width(), text_top(grid.line_name)});
  }
}

void draw_kinds_legend(Canvas& canvas, const OverviewPlan& plan, Point at) {
  const double pitch = kLegendStyle.size * 1.6;
  double y = at.y;
  if (!plan.gauge_name.empty()) {
    draw_gauge(canvas, {at.x + 3, y - 3, 4, 18}, 0.4, true);
    canvas.text(plan.gauge_name, {at.x + 14, y});
    y += 2 * pitch;
  }
  for (const LegendLine& line : plan.legend) {
    if (line.mark != nullptr) canvas.text(line.sign, {at.x + 5 - line.sign.width() / 2, y});
    canvas.text(line.text, {at.x + 14, y});
    y += pitch;
  }
}

void draw_overview_plan(Canvas& canvas, const OverviewPlan& plan, Point at) {
  const HeadsFigure& figure = plan.figure;
  if (plan.grid) draw_grid_titles(canvas, plan, at);
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const auto line = static_cast<double>(static_cast<int64_t>(i) / figure.panels_across);
    const auto column = static_cast<double>(static_cast<int64_t>(i) % figure.panels_across);
    const Point corner =
        on_grid({at.x + plan.left() + column * (plan.panel_width() + plan.gap()),
                 at.y + plan.top() + plan.head_room() +
                     line * (plan.panel_height() + plan.head_room() + plan.gap())});
    draw_cells(canvas, figure.panels[i].weights.matrix<float>(), plan.axis, corner, plan.cell);
    if (plan.grid) {
      draw_panel_signs(canvas, plan, figure.panels[i], corner);
    } else {
      draw_panel_title(canvas, plan, figure.panels[i], corner);
    }
  }
  const Point side{at.x + plan.left() + plan.map_width() + kOverviewBarSpace,
                   at.y + plan.top() + plan.head_room()};
  plan.bar->draw(canvas, side);
  draw_kinds_legend(canvas, plan, {side.x, side.y + plan.legend_top()});
}

// Whole units where panels have room, else halves, which are pixels.
double overview_cell(const HeadsFigure& figure) {
  const auto bins =
      static_cast<double>(std::max(figure.rows.positions.size(), figure.cols.positions.size()));
  const int64_t down =
      (std::ssize(figure.panels) + figure.panels_across - 1) / figure.panels_across;
  const double room = kWidestGrid / static_cast<double>(std::max(figure.panels_across, down)) - 16;
  for (const double cell : {3.0, 2.0, 1.0}) {
    if (bins * cell <= std::min(room, 200.0)) return cell;
  }
  return 0.5;
}

}  // namespace

Body draw_head_overview(const HeadsFigure& figure, const ColorMap& colors) {
  const auto rows = static_cast<int64_t>(figure.rows.positions.size());
  const auto cols = static_cast<int64_t>(figure.cols.positions.size());
  if (figure.panels.empty() || figure.panels_across < 1) {
    fail(ErrorKind::kInvalidArgument, "{} panels, {} across, cannot be drawn; give one or more",
         figure.panels.size(), figure.panels_across);
  }
  bool forbidden = false, apart = false;
  for (const MapPanel& panel : figure.panels) {
    check_matrix(panel.weights, rows, cols, panel.title);
    forbidden = forbidden || has_forbidden(panel.weights.matrix<float>());
    apart = apart || panel.apart > 0;
  }
  auto plan = std::make_shared<OverviewPlan>(
      OverviewPlan{.figure = figure, .axis = {colors, figure.scale}});
  plan->cell = overview_cell(figure);
  plan->grid = grid_titles(figure);
  if (plan->grid) plan->legend = legend_of(figure);
  if (apart) plan->gauge_name = TextBlock::line("sinks, special tokens", kLegendStyle);
  plan->bar.emplace(plan->axis, figure.value_name,
                    std::clamp(plan->map_height() - 200, 90.0, 190.0),
                    forbidden_key(forbidden, rows, cols));
  Body body;
  body.cell = plan->cell;
  body.width = plan->left() + plan->map_width() + kOverviewBarSpace + plan->side_width();
  body.height = plan->top() + std::max(plan->map_height(), plan->head_room() + plan->legend_top() +
                                                               plan->legend_height());
  body.draw = [plan](Canvas& canvas, Point at) { draw_overview_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
