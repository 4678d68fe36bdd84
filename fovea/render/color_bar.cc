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

}  // namespace

ColorBar::ColorBar(const ColorAxis& axis, std::string_view name, double height, bool with_hatch)
    : axis_(axis), bar_height_(height) {
  if (!name.empty()) {
    name_ = TextBlock::line(name, kAxisNameStyle);
    bar_top_ = name_.height() + 8;
  }
  const int wanted = std::clamp(static_cast<int>(height / 32), 1, 7);
  const std::vector<double> values = round_ticks(axis.low(), axis.high(), wanted);
  const double step = values.size() > 1 ? values[1] - values[0] : axis.high() - axis.low();
  width_ = name_.width();
  for (const double value : values) {
    ticks_.push_back({axis.position(value), TextBlock::line(tick_text(value, step), kNumberStyle)});
    width_ = std::max(width_, kBarWidth + kTickLength + 5 + ticks_.back().label.width());
  }
  height_ = bar_top_ + bar_height_;
  if (with_hatch) {
    hatch_name_ = TextBlock::line("not allowed", kAxisNameStyle);
    width_ = std::max(width_, kHatchKey + 6 + hatch_name_.width());
    height_ += 16 + kHatchKey;
  }
}

void ColorBar::draw(Canvas& canvas, Point at) const {
  if (!name_.empty()) canvas.text(name_, at);
  const Point corner = on_grid({at.x, at.y + bar_top_});
  const Rect bar{corner.x, corner.y, kBarWidth, bar_height_};
  canvas.gradient(bar, axis_.colors(), /*upwards=*/true);
  canvas.outline(bar, {.color = kMuted, .width = 0.5});
  for (const Tick& tick : ticks_) {
    const double y = bar.y + bar_height_ * (1 - tick.position);
    canvas.line({bar.x + kBarWidth, y}, {bar.x + kBarWidth + kTickLength, y},
                {.color = kMuted, .width = 0.75});
    canvas.text(tick.label, {bar.x + kBarWidth + kTickLength + 5,
                             y + tick.label.cap_height() / 2 - tick.label.baseline()});
  }
  if (!hatch_name_.empty()) {
    const Rect key{at.x, bar.y + bar_height_ + 16, kHatchKey, kHatchKey};
    canvas.hatch({key});
    canvas.outline(key, {.color = kHatchLine, .width = 0.5});
    canvas.text(hatch_name_,
                {key.x + kHatchKey + 6,
                 key.y + kHatchKey / 2 + hatch_name_.cap_height() / 2 - hatch_name_.baseline()});
  }
}

FlatColorBar::FlatColorBar(const ColorAxis& axis, std::string_view name)
    : axis_(axis), name_(TextBlock::line(name, kAxisNameStyle)) {
  const std::vector<double> values = round_ticks(axis.low(), axis.high(), axis.low() < 0 ? 4 : 3);
  const double step = values.size() > 1 ? values[1] - values[0] : axis.high() - axis.low();
  for (const double value : values) {
    ticks_.emplace_back(axis.position(value),
                        TextBlock::line(tick_text(value, step), kNumberStyle));
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
  for (const auto& [position, label] : ticks_) {
    const double x = bar.x + kFlatWidth * position;
    canvas.line({x, bar.y + kFlatHeight}, {x, bar.y + kFlatHeight + kTickLength},
                {.color = kMuted, .width = 0.75});
    canvas.text(label, {x - label.width() / 2, bar.y + kFlatHeight + kTickLength + 2});
  }
}

}  // namespace fovea
