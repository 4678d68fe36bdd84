#include "fovea/figure/picture_tone.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fovea {
namespace {

// The darkest grey of a ground, as a part of white, and how far it is to the lightest.
struct GroundRange {
  double darkest, reach;
};
constexpr GroundRange kGround{0.08, 0.38};
constexpr GroundRange kFaintGround{0.12, 0.19};
constexpr double kMiddleGround = 0.27;  // below the colours of a bar
constexpr double kLeastContrast = 0.2;  // a picture of one grey is not stretched into noise
constexpr double kTail = 0.01;          // of the pixels, at either end
constexpr double kFirstColor = 0.40;    // of a map that goes one way
constexpr double kMostCover = 0.86;
constexpr double kFullFrom = 0.30;  // where the cover is at its most
constexpr double kSteepness = 0.8;

uint8_t luma(const uint8_t* pixel) {
  return static_cast<uint8_t>(
      std::lround(0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2]));
}

uint8_t grey_byte(double part_of_white) {
  return static_cast<uint8_t>(std::lround(255 * part_of_white));
}

// The level below which so many pixels lie.
int level_with(const std::array<size_t, 256>& counts, double pixels) {
  double below = 0;
  for (int level = 0; level < 256; ++level) {
    below += static_cast<double>(counts[static_cast<size_t>(level)]);
    if (below > pixels) return level;
  }
  return 255;
}

Picture ground_of(const Picture& picture, GroundRange range) {
  std::array<size_t, 256> counts{};
  const size_t pixels = picture.bytes.size() / 3;
  for (size_t i = 0; i < pixels; ++i) ++counts[luma(&picture.bytes[3 * i])];
  const double low = level_with(counts, kTail * static_cast<double>(pixels)) / 255.0;
  const double high = level_with(counts, (1 - kTail) * static_cast<double>(pixels)) / 255.0;
  std::array<uint8_t, 256> grey{};
  for (size_t level = 0; level < grey.size(); ++level) {
    const double stretched =
        (static_cast<double>(level) / 255 - low) / std::max(high - low, kLeastContrast);
    grey[level] = grey_byte(range.darkest + range.reach * std::clamp(stretched, 0.0, 1.0));
  }
  Picture ground(picture.width, picture.height);
  for (size_t i = 0; i < pixels; ++i) {
    const uint8_t value = grey[luma(&picture.bytes[3 * i])];
    std::fill_n(&ground.bytes[3 * i], 3, value);
  }
  return ground;
}

}  // namespace

Picture dark_ground(const Picture& picture) {
  return ground_of(picture, kGround);
}

Picture faint_ground(const Picture& picture) {
  return ground_of(picture, kFaintGround);
}

Tint tint_of(const ColorMap& colors, double place, bool is_signed) {
  place = std::clamp(place, 0.0, 1.0);
  const double size = is_signed ? std::abs(2 * place - 1) : place;
  return {colors.at(is_signed ? place : kFirstColor + (1 - kFirstColor) * place),
          kMostCover * std::pow(std::min(1.0, size / kFullFrom), kSteepness)};
}

ColorMap colors_over_ground(const ColorMap& colors, bool is_signed) {
  const uint8_t ground = grey_byte(kMiddleGround);
  std::array<Rgb, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const Tint tint = tint_of(colors, static_cast<double>(i) / 255, is_signed);
    table[i] = mix({ground, ground, ground}, tint.color, tint.cover);
  }
  return {colors.name(), colors.description(), colors.diverging(), table};
}

}  // namespace fovea
