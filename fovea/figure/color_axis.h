// Values into places of a colour map, on one stated range; round numbers along it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/figure/figure.h"

namespace fovea {

// Where a value lies between the ends of a scale: 0 at the low one, 1 at the high one, beyond them
// less and more. Colours of cells, colour bars and legends all come from it.
double place_on(const ColorScale& scale, double value);
// Its inverse.
double value_at(const ColorScale& scale, double place);
// "0.25", "1e-4"; of times even "×2", "÷2", "even". Where the colours begin at even, a bar says
// "even or less".
std::string scale_text(const ColorScale& scale, double value);
// "linear", "sqrt", "log", "signed log".
std::string_view name_of(ScaleCurve curve);

struct ColorTick {
  double place = 0;
  std::string text;
  bool strong = false;
};

class ColorAxis {
 public:
  // On a linear scale a diverging map takes a range symmetric about 0. Throws
  // Error{kInvalidArgument} unless the range is finite, and above 0 on a logarithmic scale; an
  // empty one is widened.
  ColorAxis(const ColorMap& colors, const ColorScale& scale);

  Rgb at(double value) const { return colors_->at(position(value)); }
  double position(double value) const { return place_on(scale_, value); }
  double low() const { return scale_.low; }
  double high() const { return scale_.high; }
  const ColorScale& scale() const { return scale_; }
  const ColorMap& colors() const { return *colors_; }
  // About `wanted` of them, rising.
  std::vector<ColorTick> ticks(int wanted) const;

 private:
  const ColorMap* colors_;
  ColorScale scale_;
};

// Round numbers within the range, about `wanted` of them.
std::vector<double> round_ticks(double low, double high, int wanted);
// As few digits as tell numbers `step` apart: "0.25".
std::string tick_text(double value, double step);

}  // namespace fovea
