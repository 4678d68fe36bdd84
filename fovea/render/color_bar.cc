#include "fovea/render/color_bar.h"

#include <algorithm>

#include "fovea/render/canvas.h"

namespace fovea {
namespace {

constexpr TextStyle kAxisNameStyle{.size = 10, .color = kMuted};
constexpr double kBarWidth = 10;
constexpr double kTickLength = 3;
constexpr double kHatchKey = 12;
constexpr double kFlatWidth = 160;
constexpr double kFlatHeight = 8;
constexpr double kArrowLength = 6;

TextBlock tick_label(const ColorTick& tick) {
  TextStyle style = kNumberStyle;
  style.strong = tick.strong;
  return TextBlock::line(tick.text, style);
}

// Beyond an end of a bar, where values lie there: in the colour of that end.
void draw_bar_arrow(Canvas& canvas, Point a, Point b, Point tip, Rgb color) {
  canvas.polygon({a, b, tip}, color);
  canvas.line(a, tip, {.color = kMuted, .width = 0.5});
  canvas.line(b, tip, {.color = kMuted, .width = 0.5});
}

}  // namespace

ColorBar::ColorBar(const ColorAxis& axis, std::string_view name, double height,
                   ForbiddenKey forbidden)
    : axis_(axis), forbidden_(forbidden), bar_height_(height) {
  if (!name.empty()) {
    name_ = TextBlock::line(name, kAxisNameStyle);
    bar_top_ = name_.height() + 8 + (axis.scale().above ? kArrowLength - 1 : 0);
  }
  const int wanted = std::clamp(static_cast<int>(height / 32), 1, 7);
  width_ = name_.width();
  for (const ColorTick& tick : axis.ticks(wanted)) {
    ticks_.push_back({tick.place, tick_label(tick)});
    width_ = std::max(width_, kBarWidth + kTickLength + 5 + ticks_.back().label.width());
  }
  height_ = bar_top_ + bar_height_;
  if (forbidden != ForbiddenKey::kNone) {
    forbidden_name_ = TextBlock::line("not allowed", kAxisNameStyle);
    width_ = std::max(width_, kHatchKey + 6 + forbidden_name_.width());
    height_ += 16 + kHatchKey;
  }
}

void ColorBar::draw(Canvas& canvas, Point at) const {
  if (!name_.empty()) canvas.text(name_, at);
  const Point corner = on_grid({at.x, at.y + bar_top_});
  const Rect bar{corner.x, corner.y, kBarWidth, bar_height_};
  canvas.gradient(bar, axis_.colors(), /*upwards=*/true);
  canvas.outline(bar, {.color = kMuted, .width = 0.5});
  const auto arrow = [&](double y, double length, double place) {
    draw_bar_arrow(canvas, {bar.x, y}, {bar.x + kBarWidth, y}, {bar.x + kBarWidth / 2, y + length},
                   axis_.colors().at(place));
  };
  if (axis_.scale().above) arrow(bar.y, -kArrowLength, 1);
  if (axis_.scale().below) arrow(bar.y + bar_height_, kArrowLength, 0);
  for (const Tick& tick : ticks_) {
    const double y = bar.y + bar_height_ * (1 - tick.position);
    canvas.line({bar.x + kBarWidth, y}, {bar.x + kBarWidth + kTickLength, y},
                {.color = kMuted, .width = 0.75});
    canvas.text(tick.label, {bar.x + kBarWidth + kTickLength + 5,
                             y + tick.label.cap_height() / 2 - tick.label.baseline()});
  }
  if (!forbidden_name_.empty()) {
    const Rect key{at.x, bar.y + bar_height_ + 16, kHatchKey, kHatchKey};
    if (forbidden_ == ForbiddenKey::kHatch) {
      canvas.hatch({key});
    } else {
      canvas.fill(key, kPlainGround);
    }
    canvas.outline(key, {.color = kHatchLine, .width = 0.5});
    canvas.text(forbidden_name_,
                {key.x + kHatchKey + 6, key.y + kHatchKey / 2 + forbidden_name_.cap_height() / 2 -
                                            forbidden_name_.baseline()});
  }
}

FlatColorBar::FlatColorBar(const ColorAxis& axis, std::string_view name)
    : axis_(axis), name_(TextBlock::line(name, kAxisNameStyle)) {
  const int wanted = axis.low() < 0 ? 4 : 3;
  std::vector<ColorTick> ticks = axis.ticks(wanted);
  if (ticks.size() < 3) ticks = axis.ticks(wanted + 2);  // 0 alone says nothing
  for (const ColorTick& tick : ticks) {
    ticks_.emplace_back(tick.place, tick_label(tick));
  }
  width_ = name_.width() + 10 + kFlatWidth + 12;
  height_ = kFlatHeight + kTickLength + 3 + name_.height();
}

void FlatColorBar::draw(Canvas& canvas, Point at) const {
  canvas.text(name_, {at.x, at.y + kFlatHeight / 2 + name_.cap_height() / 2 - name_.baseline()});
  const Point corner = on_grid({at.x + name_.width() + 10, at.y});
  const Rect bar{corner.x, corner.y, kFlatWidth, kFlatHeight};
  canvas.gradient(bar, axis_.colors(), /*upwards=*/false);
  canvas.outline(bar, {.color = kMuted, .width = 0.5});
  const auto arrow = [&](double x, double length, double place) {
    draw_bar_arrow(canvas, {x, bar.y}, {x, bar.y + kFlatHeight},
                   {x + length, bar.y + kFlatHeight / 2}, axis_.colors().at(place));
  };
  if (axis_.scale().above) arrow(bar.x + kFlatWidth, kArrowLength, 1);
  if (axis_.scale().below) arrow(bar.x, -kArrowLength, 0);
  for (const auto& [position, label] : ticks_) {
    const double x = bar.x + kFlatWidth * position;
    canvas.line({x, bar.y + kFlatHeight}, {x, bar.y + kFlatHeight + kTickLength},
                {.color = kMuted, .width = 0.75});
    canvas.text(label, {x - label.width() / 2, bar.y + kFlatHeight + kTickLength + 2});
  }
}

}  // namespace fovea
