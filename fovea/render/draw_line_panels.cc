// Lines of heads that each have a panel: colour and strength are the weight, what goes to special
// tokens is grey and lies below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr Rgb kGreyLine{128, 128, 136};
constexpr double kThinnest = 0.4;
constexpr double kMostColored = 2.4;  // added to it at the top of the scale
constexpr double kMostGrey = 1.2;
constexpr double kFirstLineColor = 0.25;  // of the colours: paler lines do not show on white
constexpr double kPanelsWidth = 900;
constexpr int64_t kMostPanelLines = 200'000;

struct PanelLine {
  int64_t row;
  int64_t col;
  float weight;
  bool grey;
};

// How large a panel and its names are.
struct LineSizes {
  double pitch, span, name, widest;
};
constexpr LineSizes kAlone{20, 260, 12, 160};
constexpr LineSizes kSmall{12, 92, 8.5, 90};

struct LinePanelsPlan {
  LinesFigure figure;  // by value: drawn later
  const ColorMap* colors;
  ColorScale scale;
  LineSizes sizes;
  std::vector<TextBlock> titles, left, right;
  std::vector<std::vector<PanelLine>> lines;
  TextBlock note;
  double left_width = 0, right_width = 0;
  int64_t across = 1;

  double title_height() const { return titles.size() > 1 ? titles[0].height() + 4 : 0; }
  double gap() const { return 20; }
  double panel_width() const { return left_width + 5 + sizes.span + 5 + right_width; }
  double panel_height() const {
    return title_height() + static_cast<double>(std::max(left.size(), right.size())) * sizes.pitch;
  }
  double width() const { return static_cast<double>(across) * (panel_width() + gap()) - gap(); }
  double height() const {
    const auto count = static_cast<int64_t>(lines.size());
    return static_cast<double>((count + across - 1) / across) * (panel_height() + gap()) - gap();
  }
  double center(int64_t position) const {
    return (static_cast<double>(position) + 0.5) * sizes.pitch;
  }
};

std::vector<PanelLine> lines_of_panel(const LinesFigure& figure, const MapPanel& head,
                                      const ColorScale& scale) {
  const auto weights = head.weights.matrix<float>();
  std::vector<PanelLine> lines;
  for (int64_t r = 0; r < weights.rows; ++r) {
    if (figure.chosen_row && r != *figure.chosen_row) continue;
    for (int64_t c = 0; c < weights.cols; ++c) {
      if (figure.chosen_col && c != *figure.chosen_col) continue;
      const float weight = weights(r, c);
      const double size = figure.strength ? place_on(scale, double{weight}) : double{weight};
      if (!(size >= figure.least)) continue;  // forbidden ones neither
      lines.push_back({r, c, weight, std::ranges::binary_search(head.grey, c)});
    }
  }
  // Grey below, weak ones first.
  std::ranges::stable_sort(lines, {}, &PanelLine::weight);
  std::ranges::stable_sort(
      lines, [](const PanelLine& a, const PanelLine& b) { return a.grey && !b.grey; });
  return lines;
}

std::vector<TextBlock> names_of(const Axis& axis, const LineSizes& sizes,
                                std::optional<int64_t> chosen) {
  std::vector<TextBlock> names;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    TextStyle style{.size = sizes.name, .color = axis.positions[i].special ? kMuted : kInk};
    if (static_cast<int64_t>(i) == chosen) {
      style.color = kAccent;
      style.strong = true;
    }
    names.push_back(TextBlock::line(axis.positions[i].text, style, sizes.widest));
  }
  return names;
}

double widest_of(const std::vector<TextBlock>& names) {
  double widest = 0;
  for (const TextBlock& name : names) widest = std::max(widest, name.width());
  return widest;
}

void draw_line_panel(Canvas& canvas, const LinePanelsPlan& plan, size_t panel, Point at) {
  const double left = at.x + plan.left_width + 5;
  const double right = left + plan.sizes.span;
  if (plan.titles.size() > 1) canvas.text(plan.titles[panel], {left, at.y});
  const double top = at.y + plan.title_height();
  for (const PanelLine& line : plan.lines[panel]) {
    const double place = line.grey
                             ? std::clamp(double{line.weight}, 0.0, 1.0)
                             : std::clamp(place_on(plan.scale, double{line.weight}), 0.0, 1.0);
    canvas.ribbon(
        {left, top + plan.center(line.row)}, {right, top + plan.center(line.col)},
        {.color = line.grey ? kGreyLine
                            : plan.colors->at(kFirstLineColor + (1 - kFirstLineColor) * place),
         .width = kThinnest + (line.grey ? kMostGrey : kMostColored) * place});
  }
  const auto names = [&](const std::vector<TextBlock>& all, bool at_left) {
    for (size_t i = 0; i < all.size(); ++i) {
      const double x = at_left ? left - 5 - all[i].width() : right + 5;
      canvas.text(all[i], {x, top + plan.center(static_cast<int64_t>(i)) + all[i].cap_height() / 2 -
                                  all[i].baseline()});
    }
  };
  names(plan.left, true);
  names(plan.right, false);
}

// The scale of all panels together: to the largest weight to a word.
ColorScale scale_of_lines(const LinesFigure& figure) {
  if (figure.strength) return *figure.strength;
  double largest = 0;
  for (const MapPanel& head : figure.heads) {
    const auto weights = head.weights.matrix<float>();
    for (int64_t r = 0; r < weights.rows; ++r) {
      for (int64_t c = 0; c < weights.cols; ++c) {
        if (std::isnan(weights(r, c)) || std::ranges::binary_search(head.grey, c)) continue;
        largest = std::max(largest, double{weights(r, c)});
      }
    }
  }
  return {0, round_end(largest)};
}

std::string lines_note(const LinesFigure& figure, const ColorScale& scale) {
  const bool grey =
      std::ranges::any_of(figure.heads, [](const MapPanel& head) { return !head.grey.empty(); });
  const std::string what = figure.value_name == "attention weight" ? "weight" : figure.value_name;
  const std::string range =
      fmt::format("{} to {}", scale_text(scale, scale.low), scale_text(scale, scale.high));
  std::string text = fmt::format(
      "Left: {}, attending; right: {}, attended to. Colour and strength are the {}{}, {}",
      figure.rows.name, figure.cols.name, what, grey ? " to words" : "", range);
  text += figure.strength ? "." : fmt::format("; weights below {:g} are left out.", figure.least);
  if (grey) text += " Grey: to special tokens and sinks.";
  return text;
}

}  // namespace

Body draw_line_panels(const LinesFigure& figure, const ColorMap& colors) {
  const ColorScale scale = scale_of_lines(figure);
  auto plan = std::make_shared<LinePanelsPlan>(
      LinePanelsPlan{.figure = figure,
                     .colors = &colors,
                     .scale = scale,
                     .sizes = figure.heads.size() == 1 ? kAlone : kSmall});
  int64_t count = 0;
  for (const MapPanel& head : figure.heads) {
    plan->titles.push_back(TextBlock::line(head.title, kPanelStyle));
    plan->lines.push_back(lines_of_panel(figure, head, scale));
    count += std::ssize(plan->lines.back());
  }
  if (count > kMostPanelLines) {
    fail(ErrorKind::kInvalidArgument,
         "the figure would have {} lines but more than {} cannot be told apart; choose a row, "
         "fewer heads, or choose a token",
         count, kMostPanelLines);
  }
  plan->left = names_of(figure.rows, plan->sizes, figure.chosen_row);
  plan->right = names_of(figure.cols, plan->sizes, figure.chosen_col);
  plan->left_width = widest_of(plan->left);
  plan->right_width = widest_of(plan->right);
  const auto fitting =
      static_cast<int64_t>((kPanelsWidth + plan->gap()) / (plan->panel_width() + plan->gap()));
  plan->across = std::clamp<int64_t>(std::min<int64_t>(fitting, 4), 1, std::ssize(figure.heads));
  plan->note =
      TextBlock::paragraph(lines_note(figure, scale), kNoteStyle, std::max(420.0, plan->width()));
  Body body;
  body.width = std::max(plan->width(), plan->note.width());
  body.height = plan->height() + 14 + plan->note.height();
  body.draw = [plan](Canvas& canvas, Point at) {
    for (size_t i = 0; i < plan->lines.size(); ++i) {
      const auto line = static_cast<double>(static_cast<int64_t>(i) / plan->across);
      const auto column = static_cast<double>(static_cast<int64_t>(i) % plan->across);
      draw_line_panel(canvas, *plan, i,
                      {at.x + column * (plan->panel_width() + plan->gap()),
                       at.y + line * (plan->panel_height() + plan->gap())});
    }
    canvas.text(plan->note, {at.x, at.y + plan->height() + 14});
  };
  return body;
}

}  // namespace fovea
