#include "fovea/render/color_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fovea {
namespace {

// Sixteen colours of inferno (Smith and van der Walt 2015, published as CC0), evenly spaced. The
// 256 entries are a smooth curve through them, nowhere more than 4 / 255 away from the original.
using Anchors = std::array<Rgb, 16>;
constexpr Anchors kInfernoAnchors = {{{0, 0, 4},
                                      {12, 8, 38},
                                      {36, 12, 79},
                                      {66, 10, 104},
                                      {93, 18, 110},
                                      {120, 28, 109},
                                      {147, 38, 103},
                                      {174, 48, 92},
                                      {199, 62, 76},
                                      {221, 81, 58},
                                      {237, 105, 37},
                                      {248, 133, 15},
                                      {252, 165, 10},
                                      {250, 198, 45},
                                      {242, 230, 97},
                                      {252, 255, 164}}};

// The slope at an anchor: the mean of the steps on its two sides (Catmull and Rom 1974).
double slope(const std::array<double, std::tuple_size_v<Anchors>>& values, size_t i) {
  const size_t before = i == 0 ? 0 : i - 1;
  const size_t after = std::min(i + 1, values.size() - 1);
  return (values[after] - values[before]) / static_cast<double>(after - before);
}

uint8_t interpolate(uint8_t Rgb::*channel, double position) {
  std::array<double, std::tuple_size_v<Anchors>> values{};
  std::ranges::transform(kInfernoAnchors, values.begin(),
                         [&](const Rgb& color) { return static_cast<double>(color.*channel); });
  const double place = position * static_cast<double>(values.size() - 1);
  const size_t i = std::min(static_cast<size_t>(place), values.size() - 2);
  const double t = place - static_cast<double>(i);
  const double curve = values[i] * (1 + 2 * t) * (1 - t) * (1 - t) +
                       slope(values, i) * t * (1 - t) * (1 - t) +
                       values[i + 1] * t * t * (3 - 2 * t) + slope(values, i + 1) * t * t * (t - 1);
  return static_cast<uint8_t>(std::clamp(std::lround(curve), 0L, 255L));
}

ColorMap make_inferno() {
  std::array<Rgb, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const double position = static_cast<double>(i) / 255;
    table[i] = {interpolate(&Rgb::red, position), interpolate(&Rgb::green, position),
                interpolate(&Rgb::blue, position)};
  }
  return {"inferno", table};
}

double linear_light(uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

}  // namespace

Rgb ColorMap::at(double position) const {
  if (!(position > 0)) return table_.front();
  return table_[static_cast<size_t>(std::lround(std::min(position, 1.0) * 255))];
}

const ColorMap& inferno() {
  static const ColorMap map = make_inferno();
  return map;
}

double lightness(Rgb color) {
  const double luminance = 0.2126 * linear_light(color.red) + 0.7152 * linear_light(color.green) +
                           0.0722 * linear_light(color.blue);
  return luminance <= 216.0 / 24389 ? luminance * 24389 / 27 : 116 * std::cbrt(luminance) - 16;
}

Rgb text_color_on(Rgb background) {
  // L* 50 is where the contrast to black and to white is the same, about 4.5 to 1.
  return lightness(background) > 50 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

}  // namespace fovea
