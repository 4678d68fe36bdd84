#include "fovea/render/picture_tone.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr double kGreyed = 0.8;
constexpr double kDimmed = 0.3;

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
  return mix(mix(color, {grey, grey, grey}, kGreyed), {0, 0, 0}, kDimmed);
}

Picture quiet(const Picture& picture) {
  Picture result(picture.width, picture.height);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) result.set(x, y, quiet(picture.at(x, y)));
  }
  return result;
}

double cover_of(const ColorMap& colors, double position, double opacity) {
  const double share = colors.diverging() ? std::abs(2 * position - 1) : position;
  return opacity * std::sqrt(std::clamp(share, 0.0, 1.0));
}

ColorMap colors_over(const Picture& picture, const ColorMap& colors, double opacity) {
  const Rgb below = mean_color(picture);
  std::array<Rgb, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const double position = static_cast<double>(i) / 255;
    table[i] = mix(below, colors.table()[i], cover_of(colors, position, opacity));
  }
  return {colors.name(), colors.description(), colors.diverging(), table};
}

}  // namespace fovea
