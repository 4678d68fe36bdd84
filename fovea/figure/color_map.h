// Numbers into colours. Warm is high, and in all but two maps lightness goes one way, so that a map
// reads the same in grey and with any colour vision.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/vision/picture.h"

namespace fovea {

class ColorMap {
 public:
  ColorMap(std::string_view name, std::string_view description, bool diverging,
           const std::array<Rgb, 256>& table)
      : name_(name), description_(description), diverging_(diverging), table_(table) {}

  // 0 is the lowest colour, 1 the highest; what lies outside is clamped, NaN is the lowest.
  Rgb at(double position) const;
  std::string_view name() const { return name_; }
  std::string_view description() const { return description_; }  // one line for users
  // For differences: the middle means zero, so the range is taken symmetric about it.
  bool diverging() const { return diverging_; }
  const std::array<Rgb, 256>& table() const { return table_; }

 private:
  std::string_view name_;
  std::string_view description_;
  bool diverging_;
  std::array<Rgb, 256> table_;
};

// Black, purple, red, orange, pale yellow.
const ColorMap& inferno();

// White to nearly black: of sinks and special tokens, which lie apart from the colours of a map.
const ColorMap& grey_colors();

// inferno, cividis, viridis, paper, RdBu, ice-fire, turbo. Throws Error{kInvalidArgument} that
// lists them.
const ColorMap& color_map(std::string_view name);
const std::vector<std::string_view>& color_map_names();

// Colours that stay apart with any colour vision: the first eight differ in hue and lightness, the
// next eight are the same darkened. Line patterns must tell what comes after.
Rgb category_color(int64_t index);

// The same for frames and areas on photographs: bright, black letters are readable on all of them.
Rgb object_color(int64_t index);

// As WCAG 2 defines it, 1 to 21.
double contrast(Rgb a, Rgb b);
// Black or white, whichever reads better on `background`; the contrast is 4.5 or more.
Rgb text_color_on(Rgb background);
// `share` of b in a, channel by channel.
Rgb mix(Rgb a, Rgb b, double share);

}  // namespace fovea
