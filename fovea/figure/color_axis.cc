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

// What may stand beside a curved scale, the most wanted first: the ends of one that counts from
// even attention, then round numbers, the large ones first.
std::vector<double> curved_candidates(const ColorScale& scale) {
  std::vector<double> values;
  if (scale.times_even) values = {1, scale.low, scale.high};
  // A short way from even on is told by halves: ×2, ×4, ×8.
  constexpr double kShortWay = 16;
  if (scale.times_even && scale.low == 1 && scale.high <= kShortWay) {
    for (double value = scale.high / 2; value > 1; value /= 2) values.push_back(value);
    return values;
  }
  if (scale.low == 0) values.push_back(0);
  const double least = scale.low > 0 ? scale.low : scale.high * 1e-4;
  const int top = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  const int bottom = static_cast<int>(std::floor(std::log10(least)));
  const bool tens = scale.curve == ScaleCurve::kLog && scale.high / least > 100;
  for (int power = top; power >= bottom; --power) {
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (!tens || factor == 1) values.push_back(factor * std::pow(10, power));
    }
  }
  return values;
}

// Round sizes on both sides of 0, the large ones first.
std::vector<double> signed_candidates(const ColorScale& scale) {
  std::vector<double> values;
  const int top = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  const int bottom = static_cast<int>(std::floor(std::log10(scale.least)));
  for (int power = top; power >= bottom; --power) {
    for (const double factor : {5.0, 2.0, 1.0}) {
      const double value = factor * std::pow(10, power);
      if (value > scale.least) values.insert(values.end(), {value, -value});
    }
  }
  return values;
}

std::string signed_text(double value) {
  return (value > 0 ? "+" : "") + scale_text({}, value);
}

// The middle first: what is no larger has no colour.
std::vector<ColorTick> signed_ticks(const ColorScale& scale, int wanted) {
  const double gap = 0.5 / wanted;
  std::vector<ColorTick> ticks = {
      {0.5, fmt::format("±{} or less", scale_text({}, scale.least)), true}};
  for (const double value : signed_candidates(scale)) {
    const double place = place_on(scale, value);
    const bool free = std::ranges::none_of(
        ticks, [&](const ColorTick& tick) { return std::abs(tick.place - place) < gap; });
    if (free && place > -1e-9 && place < 1 + 1e-9) {
      ticks.push_back({place, signed_text(value), false});
    }
  }
  std::ranges::sort(ticks, {}, &ColorTick::place);
  return ticks;
}

std::vector<ColorTick> curved_ticks(const ColorScale& scale, int wanted) {
  const double gap = 0.75 / wanted;
  std::vector<ColorTick> ticks;
  for (const double value : curved_candidates(scale)) {
    const double place = place_on(scale, value);
    const bool free = std::ranges::none_of(
        ticks, [&](const ColorTick& tick) { return std::abs(tick.place - place) < gap; });
    if (!free || place < -1e-9 || place > 1 + 1e-9) continue;
    const bool even = scale.times_even && value == 1;
    ticks.push_back(
        {place, even && scale.low == 1 ? "even or less" : scale_text(scale, value), even});
  }
  std::ranges::sort(ticks, {}, &ColorTick::place);
  return ticks;
}

}  // namespace

double place_on(const ColorScale& scale, double value) {
  switch (scale.curve) {
    case ScaleCurve::kSqrt:
      return std::sqrt(std::max(value - scale.low, 0.0) / (scale.high - scale.low));
    case ScaleCurve::kLog:
      return std::log(std::max(value, 1e-300) / scale.low) / std::log(scale.high / scale.low);
    case ScaleCurve::kSignedLog: {
      const double size = std::max(std::abs(value) / scale.least, 1.0);
      return 0.5 + std::copysign(0.5, value) * std::log(size) / std::log(scale.high / scale.least);
    }
    case ScaleCurve::kLinear:
      break;
  }
  return (value - scale.low) / (scale.high - scale.low);
}

double value_at(const ColorScale& scale, double place) {
  const double range = scale.high - scale.low;
  switch (scale.curve) {
    case ScaleCurve::kSqrt:
      return scale.low + place * place * range;
    case ScaleCurve::kLog:
      return scale.low * std::pow(scale.high / scale.low, place);
    case ScaleCurve::kSignedLog: {
      const double way = 2 * place - 1;  // 0 where sizes are `least` or less
      return way == 0 ? 0
                      : std::copysign(
                            scale.least * std::pow(scale.high / scale.least, std::abs(way)), way);
    }
    case ScaleCurve::kLinear:
      break;
  }
  return scale.low + place * range;
}

std::string scale_text(const ColorScale& scale, double value) {
  if (scale.times_even && value > 0) {
    if (value == 1) return "even";
    return value > 1 ? fmt::format("×{:.3g}", value) : fmt::format("÷{:.3g}", 1 / value);
  }
  std::string text = fmt::format("{:.3g}", value);
  if (const size_t zero = text.find("e-0"); zero != text.npos) text.erase(zero + 2, 1);
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

std::string_view name_of(ScaleCurve curve) {
  switch (curve) {
    case ScaleCurve::kLog:
      return "log";
    case ScaleCurve::kSqrt:
      return "sqrt";
    case ScaleCurve::kSignedLog:
      return "signed log";
    case ScaleCurve::kLinear:
      break;
  }
  return "linear";
}

ColorAxis::ColorAxis(const ColorMap& colors, const ColorScale& scale)
    : colors_(&colors), scale_(scale) {
  double& low = scale_.low;
  double& high = scale_.high;
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    fail(ErrorKind::kInvalidArgument, "colours from {} to {} cannot be; give a low and a high end",
         low, high);
  }
  if (scale.curve == ScaleCurve::kLog && low <= 0) {
    fail(ErrorKind::kInvalidArgument,
         "logarithmic colours from {} to {} cannot be; give a low end above 0", low, high);
  }
  if (scale.curve == ScaleCurve::kSignedLog &&
      !(scale.least > 0 && scale.least < high && low == -high)) {
    fail(ErrorKind::kInvalidArgument,
         "signed logarithmic colours from {} over ±{} to {} cannot be; give ends equally far from "
         "0 and a size above 0 between them",
         low, scale.least, high);
  }
  if (colors.diverging() && scale.curve == ScaleCurve::kLinear) {
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  // Everything is the same value: any range shows that.
  if (!(high - low > 1e-30)) high = low + 1;
}

std::vector<ColorTick> ColorAxis::ticks(int wanted) const {
  if (scale_.curve == ScaleCurve::kSignedLog) return signed_ticks(scale_, wanted);
  if (scale_.curve != ScaleCurve::kLinear) return curved_ticks(scale_, wanted);
  const std::vector<double> values = round_ticks(low(), high(), wanted);
  const double step = values.size() > 1 ? values[1] - values[0] : high() - low();
  std::vector<ColorTick> ticks;
  for (const double value : values) {
    const bool even = scale_.times_even && value > 0;
    ticks.push_back({position(value), even ? scale_text(scale_, value) : tick_text(value, step),
                     even && value == 1});
  }
  return ticks;
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
