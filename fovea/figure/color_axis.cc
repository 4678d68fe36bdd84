#include "fovea/figure/color_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double tick_step(double low, double high, int wanted) {
  const double rough = (high - low) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) return factor * power;
  }
  return 10 * power;
}

}  // namespace

ColorAxis::ColorAxis(const ColorMap& colors, const ColorScale& scale)
    : colors_(&colors), low_(scale.low), high_(scale.high) {
  if (!std::isfinite(low_) || !std::isfinite(high_) || low_ > high_) {
    fail(ErrorKind::kInvalidArgument, "colours from {} to {} cannot be; give a low and a high end",
         low_, high_);
  }
  if (colors.diverging()) {
    high_ = std::max(std::abs(low_), std::abs(high_));
    low_ = -high_;
  }
  // Everything is the same value: any range shows that.
  if (!(high_ - low_ > 1e-30)) high_ = low_ + 1;
}

std::vector<double> round_ticks(double low, double high, int wanted) {
  const double step = tick_step(low, high, wanted);
  std::vector<double> ticks;
  const double slack = step * 1e-6;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
    ticks.push_back(k * step);
  }
  return ticks;
}

std::string tick_text(double value, double step) {
  if (std::abs(value) >= 1e6 || (value != 0 && std::abs(value) < 1e-4)) {
    return fmt::format("{:.1e}", value);
  }
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 8);
  std::string text = fmt::format("{:.{}f}", value == 0 ? 0.0 : value, digits);
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

}  // namespace fovea
