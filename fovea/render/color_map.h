// Numbers into colours. Warm is high, and lightness grows all the way, so that a map reads the same
// in grey and with any colour vision.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fovea {

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Rgb& other) const = default;
};

class ColorMap {
 public:
  ColorMap(std::string_view name, const std::array<Rgb, 256>& table) : name_(name), table_(table) {}

  // 0 is the lowest colour, 1 the highest; what lies outside is clamped, NaN is the lowest.
  Rgb at(double position) const;
  std::string_view name() const { return name_; }
  const std::array<Rgb, 256>& table() const { return table_; }

 private:
  std::string_view name_;
  std::array<Rgb, 256> table_;
};

// Black, purple, red, orange, pale yellow.
const ColorMap& inferno();

// CIE L*, 0 (black) to 100 (white).
double lightness(Rgb color);
// Black or white, whichever reads better on `background`.
Rgb text_color_on(Rgb background);

}  // namespace fovea
