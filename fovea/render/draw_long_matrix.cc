// One map of more than 64 positions a side: as large as its bins, its rows named by paragraphs, its
// columns by numbers and those that receive most; sinks in grey beside it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "fovea/figure/caption.h"
#include "fovea/render/axis_labels.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/distance_bars.h"
#include "fovea/render/draw.h"
#include "fovea/render/path_key.h"

namespace fovea {
namespace {

constexpr double kLongSide =
    512;  // units of the longer side at most, unless every cell is asked for
constexpr double kLeastRowPitch = 15;
constexpr double kLeastTopPitch = 13;
constexpr size_t kMostTop = 8;
constexpr int64_t kMostRoundNumbers = 9;
constexpr double kStripWidth = 9;
constexpr double kStripGap = 6;
constexpr double kLongTick = 4;
constexpr double kNameGap = 4;  // between a tick and its name
constexpr double kLongBarSpace = 28;
constexpr double kGreyBarHeight = 90, kLowGreyBar = 40;  // the latter beside low maps
constexpr double kTopAngle = 60;
constexpr double kLeastCorner = 240;  // a smaller map has no room for bars in it
constexpr Rgb kRingColor{20, 70, 160};
constexpr TextStyle kRowNameStyle{.size = 8.5};
constexpr TextStyle kStripNameStyle{.size = 8.5, .color = kMuted};
constexpr TextStyle kLongNumberStyle{.size = 9, .color = kMuted};
constexpr TextStyle kTopNameStyle{.size = 8.5};

// A name at a distance from the beginning of its side, in units.
struct SideName {
  double at = 0;
  TextBlock text;
  std::optional<double> tick = {};  // none: at the name

  double tick_at() const { return tick.value_or(at); }
};

// Numbers of positions at round steps, at most so many.
std::vector<SideName> round_numbers(const AxisPlace& place, int64_t cells, double cell) {
  const int64_t last = place.of(cells - 1) + place.step;
  int64_t step = 1;
  for (int64_t power = 1; (last - place.first) / step > kMostRoundNumbers; power *= 10) {
    for (const int64_t factor : {1, 2, 5}) {
      step = factor * power;
      if ((last - place.first) / step <= kMostRoundNumbers) break;
    }
  }
  std::vector<SideName> names;
  for (int64_t number = (place.first + step - 1) / step * step; number < last; number += step) {
    const double at = static_cast<double>(number - place.first) / static_cast<double>(place.step);
    names.push_back({at * cell, TextBlock::line(count_text(number), kLongNumberStyle)});
  }
  return names;
}

// The letters of a path's sections, in their middle.
std::vector<SideName> section_letters(const MapOverview& overview, double cell, double end) {
  std::vector<SideName> names;
  const auto& sections = overview.row_names;
  for (size_t i = 0; i < sections.size(); ++i) {
    const double from = sections[i].place * cell;
    const double to = i + 1 < sections.size() ? sections[i + 1].place * cell : end;
    names.push_back({(from + to) / 2, TextBlock::line(sections[i].text, kLongNumberStyle), from});
  }
  return names;
}

struct LongPlan {
  MatrixFigure figure;  // by value: drawn later
  ColorAxis axis;
  double cell;
  std::vector<SideName> rows, numbers, top;
  std::vector<TextBlock> strip_names;
  TextBlock note;  // below the numbers
  std::optional<ColorBar> bar, grey_bar;
  std::optional<DistanceBars> distances;
  std::optional<PathKeyPicture> path;
  bool in_corner = false;
  double left = 0, above = 0;
  ColorAxis grey{grey_colors(), {0, 1}};

  const MapOverview& overview() const { return *figure.overview; }
  double map_width() const { return static_cast<double>(figure.weights.size(1)) * cell; }
  double map_height() const { return static_cast<double>(figure.weights.size(0)) * cell; }
  double strips_width() const {
    return static_cast<double>(overview().apart.size()) * (kStripWidth + kStripGap);
  }
  double note_top() const {
    return above + map_height() + kLongTick + 2 + kLongNumberStyle.size * 1.4 + 2;
  }
  double distances_top() const { return note_top() + note.height() + 16; }
  double bars_height() const { return bar->height() + (grey_bar ? 26 + grey_bar->height() : 0); }
  // At the foot of the map, below the bars.
  double path_top() const { return std::max(map_height() - path->height(), bars_height() + 26); }
};

void add_row_names(LongPlan& plan) {
  const MatrixFigure& figure = plan.figure;
  const std::optional<int64_t>& chosen = figure.chosen_row;
  const double chosen_at = chosen ? (static_cast<double>(*chosen) + 0.5) * plan.cell : 0;
  double last = -kLeastRowPitch;
  for (const PlacedName& name : plan.overview().row_names) {
    if (plan.overview().path) break;
    const double at = name.place * plan.cell;
    if (at - last < kLeastRowPitch || at > plan.map_height() - 4) continue;
    if (chosen && std::abs(at - chosen_at) < kLeastRowPitch) continue;
    plan.rows.push_back({at, TextBlock::line(name.text, kRowNameStyle)});
    last = at;
  }
  if (plan.overview().path) {
    plan.rows = section_letters(plan.overview(), plan.cell, plan.map_height());
  } else if (plan.overview().row_names.size() < 2) {
    plan.rows = round_numbers(figure.row_place, figure.weights.size(0), plan.cell);
    std::erase_if(plan.rows, [&](const SideName& name) {
      return chosen && std::abs(name.at - chosen_at) < kLeastRowPitch;
    });
  }
  if (!chosen) return;
  const Position& position = figure.rows.positions[static_cast<size_t>(*chosen)];
  plan.rows.push_back(
      {chosen_at, TextBlock::line(
                      fmt::format("{} \u2068{}\u2069", figure.row_place.of(*chosen), position.text),
                      {.size = kRowNameStyle.size, .color = kAccent, .strong = true}, 130)});
}

void add_top_names(LongPlan& plan) {
  for (const PlacedName& name : plan.overview().top_columns) {
    if (plan.top.size() == kMostTop) break;
    const double at = name.place * plan.cell;
    const bool free = std::ranges::none_of(
        plan.top, [&](const SideName& other) { return std::abs(other.at - at) < kLeastTopPitch; });
    if (free) plan.top.push_back({at, TextBlock::line(name.text, kTopNameStyle)});
  }
}

void draw_strips(Canvas& canvas, const LongPlan& plan, Point corner) {
  const auto& apart = plan.overview().apart;
  for (size_t s = 0; s < apart.size(); ++s) {
    const double x = corner.x - static_cast<double>(apart.size() - s) * (kStripWidth + kStripGap);
    CellImage image{.width = 1, .height = std::ssize(apart[s].weights), .pixels = {}};
    for (const float weight : apart[s].weights) {
      image.pixels.push_back(opaque_pixel(plan.grey.at(double{weight})));
    }
    const Rect strip{x, corner.y, kStripWidth, plan.map_height()};
    canvas.picture(CanvasPicture(image), strip);
    canvas.outline(strip, {.color = kMuted, .width = 0.5});
    const TextBlock& name = plan.strip_names[s];
    canvas.rotated_text(name, {x + kStripWidth / 2 + name.cap_height() / 2, corner.y - 6}, 90);
  }
}

void draw_long_names(Canvas& canvas, const LongPlan& plan, Point corner) {
  const double strips = corner.x - plan.strips_width();
  const auto beside = [](const TextBlock& text, double y) {
    return y + text.cap_height() / 2 - text.baseline();
  };
  for (const SideName& name : plan.rows) {
    const double y = corner.y + name.at, tick = corner.y + name.tick_at();
    canvas.line({strips - kLongTick, tick}, {strips, tick},
                {.color = name.text.style().color, .width = 0.6});
    canvas.text(name.text,
                {strips - kLongTick - kNameGap - name.text.width(), beside(name.text, y)});
  }
  const double bottom = corner.y + plan.map_height();
  for (const SideName& name : plan.numbers) {
    const double x = corner.x + name.at, tick = corner.x + name.tick_at();
    canvas.line({tick, bottom}, {tick, bottom + kLongTick}, {.color = kMuted, .width = 0.6});
    canvas.text(name.text, {x - name.text.width() / 2, bottom + kLongTick + 2});
  }
  for (const SideName& name : plan.top) {
    const double x = corner.x + name.at;
    canvas.line({x, corner.y - 5}, {x, corner.y - 1}, {.width = 0.8});
    canvas.rotated_text(name.text, {x + 3, corner.y - 8}, kTopAngle);
  }
}

// Two rings in each other, white under blue, so that they show on any colour.
void draw_needles(Canvas& canvas, const LongPlan& plan, Point corner) {
  for (const CellMark& needle : plan.overview().needles) {
    const Point middle{corner.x + (static_cast<double>(needle.col) + 0.5) * plan.cell,
                       corner.y + (static_cast<double>(needle.row) + 0.5) * plan.cell};
    const auto ring = [&](double radius, const Stroke& stroke) {
      canvas.outline({middle.x - radius, middle.y - radius, 2 * radius, 2 * radius}, stroke,
                     radius);
    };
    ring(3.5, {.color = kWhite, .width = 2});
    ring(3.5, {.color = kRingColor, .width = 1});
  }
}

void draw_long_plan(Canvas& canvas, const LongPlan& plan, Point at) {
  const MatrixFigure& figure = plan.figure;
  const Point corner = on_grid({at.x + plan.left, at.y + plan.above});
  const Rect map{corner.x, corner.y, plan.map_width(), plan.map_height()};
  draw_cells(canvas, figure.weights.matrix<float>(), plan.axis, corner, plan.cell);
  canvas.outline(map, {.color = kFaint, .width = 0.5});
  draw_strips(canvas, plan, corner);
  draw_long_names(canvas, plan, corner);
  draw_needles(canvas, plan, corner);
  if (figure.chosen_row) draw_choice(canvas, map, plan.cell, *figure.chosen_row, false);
  if (figure.chosen_col) draw_choice(canvas, map, plan.cell, *figure.chosen_col, true);
  canvas.text(plan.note, {corner.x, at.y + plan.note_top()});
  if (plan.distances) {
    const double top = plan.in_corner ? corner.y + 14 : at.y + plan.distances_top();
    const double right = corner.x + plan.map_width() - 14;
    plan.distances->draw(canvas,
                         {plan.in_corner ? right - plan.distances->width() : corner.x, top});
  }
  const double bar_left = corner.x + plan.map_width() + kLongBarSpace;
  plan.bar->draw(canvas, {bar_left, corner.y});
  if (plan.grey_bar) {
    plan.grey_bar->draw(canvas, {bar_left, corner.y + plan.bar->height() + 26});
  }
  if (plan.path) plan.path->draw(canvas, {bar_left, corner.y + plan.path_top()});
}

void measure(LongPlan& plan) {
  double names = 0;
  for (const SideName& name : plan.rows) names = std::max(names, name.text.width());
  plan.left = names + kNameGap + kLongTick + plan.strips_width();
  const double slope = kTopAngle * 3.14159265 / 180;
  for (const SideName& name : plan.top) {
    plan.above = std::max(plan.above, 8 + name.text.width() * std::sin(slope) +
                                          name.text.cap_height() * std::cos(slope));
  }
  for (const TextBlock& name : plan.strip_names) {
    plan.above = std::max(plan.above, 6 + name.width());
  }
}

std::string column_note(const MatrixFigure& figure) {
  const char* usual = figure.overview->path ? "cells, attended to" : "token, attended to";
  std::string note = figure.col_title.empty() ? usual : figure.col_title;
  if (!figure.overview->top_columns.empty()) {
    note += fmt::format(" · above: those that receive most, {:.2g} % of all weight or more",
                        100 * figure.overview->top_share);
  }
  return note;
}

}  // namespace

Body draw_long_matrix(const MatrixFigure& figure, const ColorMap& colors) {
  const int64_t rows = figure.weights.size(0), cols = figure.weights.size(1);
  check_matrix(figure.weights, std::ssize(figure.rows.positions), std::ssize(figure.cols.positions),
               "the matrix");
  const MapOverview& overview = *figure.overview;
  const ColorAxis axis(colors, figure.scale);
  // Halves of a unit, which are pixels.
  const double cell = std::max(1.0, std::floor(2 * kLongSide / double(std::max(rows, cols))) / 2);
  auto plan = std::make_shared<LongPlan>(LongPlan{.figure = figure, .axis = axis, .cell = cell});
  add_row_names(*plan);
  add_top_names(*plan);
  plan->numbers = overview.path ? section_letters(overview, cell, plan->map_width())
                                : round_numbers(figure.col_place, cols, cell);
  for (const ColumnApart& each : overview.apart) {
    plan->strip_names.push_back(TextBlock::line(each.name, kStripNameStyle, 90));
  }
  plan->note = TextBlock::line(column_note(figure), kNoteStyle);
  const double grey_bar = plan->map_height() < 320 ? kLowGreyBar : kGreyBarHeight;
  const double grey_height = overview.apart.empty() ? 0 : grey_bar + 60;
  plan->bar.emplace(axis, figure.value_name,
                    std::clamp(plan->map_height() - 70 - grey_height, 90.0, 190.0),
                    forbidden_key(has_forbidden(figure.weights.matrix<float>()), rows, cols));
  if (!overview.apart.empty()) {
    plan->grey_bar.emplace(plan->grey, "in grey, share of row", grey_bar, ForbiddenKey::kNone);
  }
  if (overview.path) plan->path.emplace(*overview.path);
  if (!overview.distances.empty()) {
    plan->in_corner = overview.causal && plan->map_width() >= kLeastCorner;
    const double width = plan->map_width();
    plan->distances = plan->in_corner ? DistanceBars(overview, 0.42 * width, 0.24 * width)
                                      : DistanceBars(overview, 0.7 * width, 76);
  }
  measure(*plan);
  Body body;
  body.cell = cell;
  const double bars = std::max({plan->bar->width(), plan->grey_bar ? plan->grey_bar->width() : 0,
                                plan->path ? plan->path->width() : 0});
  body.width = plan->left + std::max(plan->map_width() + kLongBarSpace + bars, plan->note.width());
  body.height = plan->note_top() + plan->note.height();
  if (plan->distances && !plan->in_corner) {
    body.height = plan->distances_top() + plan->distances->height();
  }
  body.height = std::max(body.height, plan->above + plan->bars_height());
  if (plan->path) {
    body.height = std::max(body.height, plan->above + plan->path_top() + plan->path->height());
  }
  body.draw = [plan](Canvas& canvas, Point at) { draw_long_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
