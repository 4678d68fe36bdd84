#include "fovea/figure/picture_tone.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr double kGreyed = 0.9;
constexpr double kFaded = 0.45;
constexpr double kSteepness = 0.5;
constexpr double kLeftOut = 0.3;  // of the colours, at the low end

Rgb mean_color(const Picture& picture) {
  std::array<double, 3> sum{};
  for (size_t i = 0; i < picture.bytes.size(); ++i) sum[i % 3] += picture.bytes[i];
  const double pixels = std::max(1.0, static_cast<double>(picture.bytes.size()) / 3);
  const auto channel = [&](size_t i) { return static_cast<uint8_t>(std::lround(sum[i] / pixels)); };
  return {channel(0), channel(1), channel(2)};
}

}  // namespace

Rgb quiet(Rgb color) {
  const auto grey = static_cast<uint8_t>(
      std::lround(0.299 * color.red + 0.587 * color.green + 0.114 * color.blue));
  return mix(mix(color, {grey, grey, grey}, kGreyed), {255, 255, 255}, kFaded);
}

Picture quiet(const Picture& picture) {
  Picture result(picture.width, picture.height);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) result.set(x, y, quiet(picture.at(x, y)));
  }
  return result;
}

Tint tint_of(const ColorMap& colors, double position, double opacity) {
  const double share =
      std::clamp(colors.diverging() ? std::abs(2 * position - 1) : position, 0.0, 1.0);
  return {colors.at(colors.diverging() ? position : kLeftOut + (1 - kLeftOut) * share),
          opacity * std::pow(share, kSteepness)};
}

ColorMap colors_over(const Picture& picture, const ColorMap& colors, double opacity) {
  const Rgb below = mean_color(picture);
  std::array<Rgb, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const Tint tint = tint_of(colors, static_cast<double>(i) / 255, opacity);
    table[i] = mix(below, tint.color, tint.cover);
  }
  return {colors.name(), colors.description(), colors.diverging(), table};
}

}  // namespace fovea
