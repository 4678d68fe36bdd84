#include "fovea/render/distance_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr double kLeastScale = 0.2;  // the plot's height is so much of all weight, or more
constexpr double kLeastWritten = 0.095;
constexpr Rgb kDistanceColor{208, 62, 38};
constexpr Rgb kApartColor{120, 120, 128};
constexpr TextStyle kDistanceTitleStyle{.size = 9.5};
constexpr TextStyle kDistanceNameStyle{.size = 7, .color = kMuted};
constexpr TextStyle kDistanceNumberStyle{.size = 7.5};
constexpr TextStyle kDistanceNoteStyle{.size = 8, .color = kMuted};

std::string short_count(int64_t count) {
  return count < 1024 ? std::to_string(count) : fmt::format("{}k", count / 1024);
}

}  // namespace

DistanceBars::DistanceBars(const MapOverview& overview, double width, double height)
    : width_(width),
      height_(height),
      title_(TextBlock::line("share of all weight by distance, %", kDistanceTitleStyle)),
      note_(TextBlock::line(
          fmt::format("tokens {}, from; line: even attention", overview.causal ? "back" : "away"),
          kDistanceNoteStyle)) {
  const auto add = [&](double share, double even, std::string_view name) {
    Bar bar{.share = share, .even = even, .name = TextBlock::line(name, kDistanceNameStyle)};
    if (share >= kLeastWritten) {
      bar.number = TextBlock::line(fmt::format("{:.0f}", 100 * share), kDistanceNumberStyle);
    }
    most_ = std::max({most_, share, even, kLeastScale});
    bars_.push_back(std::move(bar));
  };
  for (const ColumnApart& each : overview.apart) {
    add(each.share, -1, each.name.starts_with("token ") ? "sink" : each.name);
  }
  for (const DistanceShare& each : overview.distances) {
    add(each.share, each.even, short_count(each.from));
  }
}

double DistanceBars::plot_top() const {
  return title_.height() + kDistanceNumberStyle.size + 8;
}

double DistanceBars::height() const {
  return plot_top() + height_ + 4 + kDistanceNameStyle.size * 1.4 + 3 + note_.height();
}

void DistanceBars::draw(Canvas& canvas, Point at) const {
  canvas.text(title_, at);
  const double bottom = at.y + plot_top() + height_;
  const double pitch = width_ / static_cast<double>(bars_.size());
  double free_from = at.x - 100;  // names that would run into the last one are left out
  for (size_t i = 0; i < bars_.size(); ++i) {
    const Bar& bar = bars_[i];
    const double x = at.x + static_cast<double>(i) * pitch, middle = x + pitch / 2;
    const double tall = std::max(height_ * bar.share / most_, 0.5);
    canvas.fill({x + 0.12 * pitch, bottom - tall, 0.76 * pitch, tall},
                bar.even < 0 ? kApartColor : kDistanceColor);
    double above = bottom - tall;  // what the number stands on
    if (bar.even >= 0) {
      const double y = bottom - height_ * bar.even / most_;
      if (y < above && y > above - 1.4 * kDistanceNumberStyle.size) above = y;
      canvas.line({x + 0.02 * pitch, y}, {x + 0.98 * pitch, y}, {.width = 0.75});
    }
    if (!bar.number.empty()) {
      canvas.text(bar.number, {middle - bar.number.width() / 2, above - 2 - bar.number.baseline()});
    }
    if (middle - bar.name.width() / 2 < free_from + 0.3) continue;
    canvas.text(bar.name, {middle - bar.name.width() / 2, bottom + 4});
    free_from = middle + bar.name.width() / 2;
  }
  canvas.line({at.x, bottom}, {at.x + width_, bottom}, {.color = kMuted, .width = 0.75});
  canvas.text(note_,
              {at.x + width_ - note_.width(), bottom + 4 + kDistanceNameStyle.size * 1.4 + 3});
}

}  // namespace fovea
