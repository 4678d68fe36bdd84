// Two columns of names joined by lines; the stronger the line, the larger the weight.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/figure/color_axis.h"
#include "fovea/render/canvas.h"
#include "fovea/render/cells.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kPitch = 20;
constexpr double kWidestName = 160;  // of a name
constexpr double kSpan = 260;        // between the columns
constexpr double kLinesSpace = 8;
constexpr double kThickest = 3.5;
constexpr double kFaintest = 0.02;  // of the largest weight; nobody sees less
constexpr int64_t kMostLines = 200'000;
constexpr TextStyle kLinesHeaderStyle{.size = 10, .color = kMuted};
constexpr double kLinesKey = 10;

struct DrawnLine {
  int64_t row;
  int64_t col;
  size_t head;
  float weight;
};

// Adds the largest weights of each row until they make up `mass` of its sum. With a chosen row or
// column, adds those of that line only.
void add_links(const LinesFigure& figure, size_t head, std::vector<DrawnLine>& links) {
  const auto weights = figure.heads[head].weights.matrix<float>();
  const bool by_column = figure.chosen_col.has_value();
  const int64_t lines = by_column ? weights.cols : weights.rows;
  const int64_t length = by_column ? weights.rows : weights.cols;
  const auto chosen = by_column ? figure.chosen_col : figure.chosen_row;
  for (int64_t line = chosen.value_or(0); line < (chosen ? *chosen + 1 : lines); ++line) {
    std::vector<DrawnLine> found;
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) {
      const DrawnLine link{by_column ? k : line, by_column ? line : k, head,
                           by_column ? weights(k, line) : weights(line, k)};
      if (!(link.weight > 0)) continue;  // neither zero nor forbidden
      found.push_back(link);
      sum += double{link.weight};
    }
    std::ranges::stable_sort(found, std::greater(), &DrawnLine::weight);
    double so_far = 0;
    for (const DrawnLine& link : found) {
      if (so_far >= figure.mass * sum * (1 - 1e-6)) break;
      so_far += double{link.weight};
      links.push_back(link);
    }
  }
}

struct Column {
  std::vector<TextBlock> names;
  TextBlock header;
  double width = 0;
};

Column make_column(const Axis& axis, std::string_view role, std::optional<int64_t> chosen) {
  Column column;
  column.header =
      TextBlock::line(fmt::format("{}, {}", axis.name, role), kLinesHeaderStyle, kWidestName);
  column.width = column.header.width();
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    TextStyle style{.size = 12, .color = axis.positions[i].special ? kMuted : kInk};
    if (static_cast<int64_t>(i) == chosen) {
      style.color = kAccent;
      style.strong = true;
    }
    column.names.push_back(TextBlock::line(axis.positions[i].text, style, kWidestName));
    column.width = std::max(column.width, column.names.back().width());
  }
  return column;
}

struct LinesPlan {
  Column left;
  Column right;
  std::vector<DrawnLine> links;
  double largest = 1;
  std::optional<ColorScale> strength;
  std::vector<TextBlock> head_names;  // empty for one head
  TextBlock note;
  double legend_height = 0;
  double legend_width = 0;
  double names_top = 0;

  double left_edge() const { return left.width + kLinesSpace; }
  double right_edge() const { return left_edge() + kSpan; }
  double width() const {
    return std::max({right_edge() + kLinesSpace + right.width, legend_width, note.width()});
  }
};

double row_center(int64_t position) {
  return (static_cast<double>(position) + 0.5) * kPitch;
}

// Heads that share a colour differ in their dashes.
std::vector<double> dashes_of(size_t head) {
  if (head < 16) return {};
  return head < 32 ? std::vector<double>{4, 2} : std::vector<double>{1, 2};
}

// The legend wraps; without a canvas it is only measured.
Point lay_out_legend(const LinesPlan& plan, Canvas* canvas, Point at) {
  constexpr double kLine = 18;
  const double widest = std::max(plan.right_edge() + kLinesSpace + plan.right.width, 420.0);
  Point place{0, 0};
  double reached = 0;
  for (size_t h = 0; h < plan.head_names.size(); ++h) {
    const TextBlock& name = plan.head_names[h];
    const double needed = kLinesKey + 5 + name.width();
    if (place.x > 0 && place.x + needed > widest) place = {0, place.y + kLine};
    if (canvas != nullptr) {
      const double middle = at.y + place.y + kLine / 2;
      canvas->line(
          {at.x + place.x, middle}, {at.x + place.x + kLinesKey, middle},
          {.color = category_color(static_cast<int64_t>(h)), .width = 3, .dashes = dashes_of(h)});
      canvas->text(
          name, {at.x + place.x + kLinesKey + 5, middle + name.cap_height() / 2 - name.baseline()});
    }
    reached = std::max(reached, place.x + needed);
    place.x += needed + 14;
  }
  return {reached, plan.head_names.empty() ? 0 : place.y + kLine};
}

void draw_lines_plan(Canvas& canvas, const LinesPlan& plan, Point at) {
  lay_out_legend(plan, &canvas, at);
  const double top = at.y + plan.names_top;
  const double left = at.x + plan.left_edge();
  const double right = at.x + plan.right_edge();
  for (const DrawnLine& link : plan.links) {
    const double strength = plan.strength
                                ? std::clamp(place_on(*plan.strength, link.weight), 0.0, 1.0)
                                : link.weight / plan.largest;
    if (strength < kFaintest) continue;
    canvas.ribbon({left, top + row_center(link.row)}, {right, top + row_center(link.col)},
                  {.color = category_color(static_cast<int64_t>(link.head)),
                   .width = 0.4 + (kThickest - 0.4) * strength,
                   .opacity = 0.95 * std::pow(strength, 1.3),
                   .dashes = dashes_of(link.head)});
  }
  const auto draw_names = [&](const Column& column, bool at_left) {
    const double header_x =
        at_left ? left - kLinesSpace - column.header.width() : right + kLinesSpace;
    canvas.text(column.header, {header_x, top - column.header.height() - 6});
    for (size_t i = 0; i < column.names.size(); ++i) {
      const TextBlock& name = column.names[i];
      const double x = at_left ? left - kLinesSpace - name.width() : right + kLinesSpace;
      canvas.text(name, {x, top + row_center(static_cast<int64_t>(i)) + name.cap_height() / 2 -
                                name.baseline()});
    }
  };
  draw_names(plan.left, true);
  draw_names(plan.right, false);
  const size_t count = std::max(plan.left.names.size(), plan.right.names.size());
  canvas.text(plan.note, {at.x, top + static_cast<double>(count) * kPitch + 12});
}

void check_lines(const LinesFigure& figure) {
  const auto rows = static_cast<int64_t>(figure.rows.positions.size());
  const auto cols = static_cast<int64_t>(figure.cols.positions.size());
  if (figure.heads.empty() || !(figure.mass > 0 && figure.mass <= 1)) {
    fail(ErrorKind::kInvalidArgument,
         "lines of {} heads with a mass of {} cannot be drawn; give heads, and a mass up to 1",
         figure.heads.size(), figure.mass);
  }
  for (const MapPanel& head : figure.heads) check_matrix(head.weights, rows, cols, head.title);
  for (const auto& [chosen, count] :
       {std::pair{figure.chosen_row, rows}, std::pair{figure.chosen_col, cols}}) {
    if (chosen && (*chosen < 0 || *chosen >= count)) {
      fail(ErrorKind::kInvalidArgument, "position {} is chosen but there are {}", *chosen, count);
    }
  }
}

}  // namespace

Body draw_lines(const LinesFigure& figure, const ColorMap& colors) {
  check_lines(figure);
  if (figure.in_panels()) return draw_line_panels(figure, colors);
  auto plan = std::make_shared<LinesPlan>();
  plan->left = make_column(figure.rows, "attending", figure.chosen_row);
  plan->right = make_column(figure.cols, "attended to", figure.chosen_col);
  for (size_t h = 0; h < figure.heads.size(); ++h) add_links(figure, h, plan->links);
  if (static_cast<int64_t>(plan->links.size()) > kMostLines) {
    fail(ErrorKind::kInvalidArgument,
         "the figure would have {} lines but more than {} cannot be told apart; choose a row, "
         "fewer heads, or choose a token",
         plan->links.size(), kMostLines);
  }
  // Weak lines first, so that the strong ones lie on top.
  std::ranges::stable_sort(plan->links, {}, &DrawnLine::weight);
  if (!plan->links.empty()) plan->largest = plan->links.back().weight;
  plan->strength = figure.strength;
  if (figure.heads.size() > 1) {
    for (const MapPanel& head : figure.heads) {
      plan->head_names.push_back(TextBlock::line(head.title, {.size = 10.5, .color = kInk}));
    }
  }
  plan->note = TextBlock::line(
      fmt::format("Of each {} the top weights until {:g} % of the mass. Line strength is the {}; "
                  "the strongest is {:.2f}.",
                  figure.chosen_col ? "column" : "row", figure.mass * 100,
                  figure.value_name == "attention weight" ? "weight" : figure.value_name,
                  plan->largest),
      kNoteStyle);
  const Point legend = lay_out_legend(*plan, nullptr, {});
  plan->legend_width = legend.x;
  plan->legend_height = legend.y;
  plan->names_top = legend.y + (legend.y > 0 ? 14 : 0) + plan->left.header.height() + 6;
  const size_t count = std::max(figure.rows.positions.size(), figure.cols.positions.size());
  Body body;
  body.width = plan->width();
  body.height = plan->names_top + static_cast<double>(count) * kPitch + 12 + plan->note.height();
  body.draw = [plan](Canvas& canvas, Point at) { draw_lines_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
