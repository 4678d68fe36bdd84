// Curves side by side on one scale: each a line, with the range of others behind it.
#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kCurvesWidth = 300, kCurvesHeight = 220;
constexpr double kBetween = 48;  // panels
constexpr double kCurvesSpace = 8;
constexpr double kCurveDot = 2.5;
constexpr double kSample = 22;  // of a line in the key
constexpr Rgb kBand{0xe4, 0xe4, 0xe9};
constexpr TextStyle kCurvesTitleStyle{.size = 12, .strong = true};
constexpr TextStyle kCurvesNameStyle{.size = 10.5, .color = kMuted};
const Stroke kMeanStroke{.color = kMuted, .width = 1.25, .dashes = {4, 3}};

struct Heading {
  TextBlock title, detail, way_name;
};

struct CurvesPlan {
  CurvesFigure figure;  // by value: drawn later
  double low = 0, high = 1;
  std::vector<std::pair<double, TextBlock>> ticks;
  std::vector<std::pair<double, TextBlock>> way_ticks;
  std::vector<Heading> headings;
  TextBlock value_name, curve_name, mean_name, band_name;

  double left() const {
    double widest = 0;
    for (const auto& [value, text] : ticks) widest = std::max(widest, text.width());
    return widest + kCurvesSpace;
  }
  double panels_top() const { return value_name.height() + 6; }
  double detail_top() const { return panels_top() + headings[0].title.height() + 1; }
  double plot_top() const {
    double tallest = 0;
    for (const Heading& each : headings) tallest = std::max(tallest, each.detail.height());
    return detail_top() + tallest + 10;
  }
  double way_top() const {
    return plot_top() + kCurvesHeight + kCurvesSpace + way_ticks[0].second.height() + 2;
  }
  double keys_top() const { return way_top() + headings[0].way_name.height() + 14; }
  double height() const { return keys_top() + curve_name.height(); }
  double plots_width() const {
    const auto count = static_cast<double>(headings.size());
    return count * kCurvesWidth + (count - 1) * kBetween;
  }
  double panel_left(size_t panel) const {
    return left() + static_cast<double>(panel) * (kCurvesWidth + kBetween);
  }
  double keys_width() const {
    return 3 * (kSample + 6) + curve_name.width() + mean_name.width() + band_name.width() + 2 * 20;
  }
  Point at(Point corner, size_t panel, double share, double value) const {
    return {corner.x + panel_left(panel) + share * kCurvesWidth,
            corner.y + plot_top() + kCurvesHeight * (high - value) / (high - low)};
  }
};

void draw_curve_axes(Canvas& canvas, const CurvesPlan& plan, Point corner, size_t panel) {
  const double left = corner.x + plan.panel_left(panel);
  for (const auto& [value, text] : plan.ticks) {
    const double y = plan.at(corner, panel, 0, value).y;
    canvas.line({left, y}, {left + kCurvesWidth, y},
                {.color = value == plan.low ? kMuted : kFaint, .width = 0.75});
    if (panel > 0) continue;
    canvas.text(text,
                {left - kCurvesSpace - text.width(), y + text.cap_height() / 2 - text.baseline()});
  }
  const double names = corner.y + plan.plot_top() + kCurvesHeight + kCurvesSpace;
  for (const auto& [share, text] : plan.way_ticks) {
    canvas.text(text, {left + share * kCurvesWidth - text.width() / 2, names});
  }
  const Heading& heading = plan.headings[panel];
  canvas.text(heading.title, {left, corner.y + plan.panels_top()});
  canvas.text(heading.detail, {left, corner.y + plan.detail_top()});
  canvas.text(heading.way_name,
              {left + kCurvesWidth / 2 - heading.way_name.width() / 2, corner.y + plan.way_top()});
}

void draw_band(Canvas& canvas, const CurvesPlan& plan, Point corner, size_t panel) {
  const CurvePanel& curve = plan.figure.panels[panel];
  std::vector<Point> outline;
  for (size_t i = 0; i < curve.shares.size(); ++i) {
    outline.push_back(plan.at(corner, panel, curve.shares[i], curve.high[i]));
  }
  for (size_t i = curve.shares.size(); i-- > 0;) {
    outline.push_back(plan.at(corner, panel, curve.shares[i], curve.low[i]));
  }
  canvas.polygon(outline, kBand);
}

void draw_curve_lines(Canvas& canvas, const CurvesPlan& plan, Point corner, size_t panel) {
  const CurvePanel& curve = plan.figure.panels[panel];
  std::vector<Point> mean, line;
  for (size_t i = 0; i < curve.shares.size(); ++i) {
    mean.push_back(plan.at(corner, panel, curve.shares[i], curve.mean[i]));
    line.push_back(plan.at(corner, panel, curve.shares[i], curve.values[i]));
  }
  canvas.polylines({mean}, kMeanStroke);
  canvas.polylines({line}, {.color = kAccent, .width = 1.75});
  for (const Point& point : line) {
    canvas.fill_rounded({point.x - kCurveDot, point.y - kCurveDot, 2 * kCurveDot, 2 * kCurveDot},
                        kCurveDot, kAccent);
  }
}

void draw_curve_keys(Canvas& canvas, const CurvesPlan& plan, Point corner) {
  double x = corner.x + plan.left();
  const double y = corner.y + plan.keys_top();
  const double middle = y + plan.curve_name.baseline() - plan.curve_name.cap_height() / 2;
  const auto name = [&](const TextBlock& text) {
    canvas.text(text, {x + kSample + 6, y});
    x += kSample + 6 + text.width() + 20;
  };
  canvas.line({x, middle}, {x + kSample, middle}, {.color = kAccent, .width = 1.75});
  canvas.fill_rounded(
      {x + kSample / 2 - kCurveDot, middle - kCurveDot, 2 * kCurveDot, 2 * kCurveDot}, kCurveDot,
      kAccent);
  name(plan.curve_name);
  canvas.line({x, middle}, {x + kSample, middle}, kMeanStroke);
  name(plan.mean_name);
  canvas.fill({x, middle - 5, kSample, 10}, kBand);
  name(plan.band_name);
}

void check_curves(const CurvesFigure& figure) {
  if (figure.panels.empty()) {
    fail(ErrorKind::kInvalidArgument, "no curves cannot be drawn; give one or more");
  }
  for (const CurvePanel& panel : figure.panels) {
    const size_t count = panel.shares.size();
    for (const auto* values :
         {&panel.shares, &panel.values, &panel.mean, &panel.low, &panel.high}) {
      const bool finite =
          std::ranges::all_of(*values, [](double value) { return std::isfinite(value); });
      if (count >= 2 && values->size() == count && finite) continue;
      fail(ErrorKind::kInvalidArgument,
           "the curve '{}' has {} points and {} numbers for them; give two or more, all finite",
           panel.title, count, values->size());
    }
    if (panel.shares.front() < 0 || panel.shares.back() > 1 ||
        !std::ranges::is_sorted(panel.shares)) {
      fail(ErrorKind::kInvalidArgument, "the points of the curve '{}' do not rise from 0 to 1",
           panel.title);
    }
  }
}

// The axis runs from 0, or from below if values do, to a round number above all values.
void place_curve_values(CurvesPlan& plan) {
  double least = 0, most = 0;
  for (const CurvePanel& panel : plan.figure.panels) {
    for (const auto* values : {&panel.values, &panel.low, &panel.high}) {
      least = std::min(least, std::ranges::min(*values));
      most = std::max(most, std::ranges::max(*values));
    }
  }
  if (most - least <= 0) most = least + 1;
  const std::vector<double> rough = round_ticks(least, most, 5);
  const double step = rough.size() > 1 ? rough[1] - rough[0] : most - least;
  plan.low = std::floor(least / step + 1e-9) * step;
  plan.high = std::ceil(most / step - 1e-9) * step;
  for (const double value : round_ticks(plan.low, plan.high, 5)) {
    plan.ticks.emplace_back(value, TextBlock::line(tick_text(value, step), kNumberStyle));
  }
  for (const int percent : {0, 25, 50, 75, 100}) {
    plan.way_ticks.emplace_back(percent / 100.0,
                                TextBlock::line(std::to_string(percent) + " %", kNumberStyle));
  }
}

}  // namespace

Body draw_curves(const CurvesFigure& figure) {
  check_curves(figure);
  auto plan = std::make_shared<CurvesPlan>(CurvesPlan{.figure = figure});
  place_curve_values(*plan);
  for (const CurvePanel& panel : figure.panels) {
    plan->headings.push_back({TextBlock::line(panel.title, kCurvesTitleStyle, kCurvesWidth),
                              TextBlock::paragraph(panel.detail, kCurvesNameStyle, kCurvesWidth),
                              TextBlock::line(panel.way_name, kCurvesNameStyle, kCurvesWidth)});
  }
  plan->value_name = TextBlock::line(figure.value_name, kCurvesNameStyle, plan->plots_width());
  plan->curve_name = TextBlock::line(figure.curve_name, kKeyStyle, kCurvesWidth);
  plan->mean_name = TextBlock::line(figure.mean_name, kKeyStyle, kCurvesWidth);
  plan->band_name = TextBlock::line(figure.band_name, kKeyStyle, kCurvesWidth);
  Body body;
  // Half of the last "100 %" stands out.
  body.width = plan->left() + std::max(plan->plots_width() + 18, plan->keys_width());
  body.height = plan->height();
  body.draw = [plan](Canvas& canvas, Point at) {
    canvas.text(plan->value_name, at);
    for (size_t panel = 0; panel < plan->headings.size(); ++panel) {
      draw_band(canvas, *plan, at, panel);
      draw_curve_axes(canvas, *plan, at, panel);
      draw_curve_lines(canvas, *plan, at, panel);
    }
    draw_curve_keys(canvas, *plan, at);
  };
  return body;
}

}  // namespace fovea
