// Values into places of a colour map, on one stated range; round numbers along it.
#pragma once

#include <string>
#include <vector>

#include "fovea/figure/figure.h"

namespace fovea {

class ColorAxis {
 public:
  // A diverging map takes a range symmetric about 0. Throws Error{kInvalidArgument} unless the
  // range is finite; an empty one is widened.
  ColorAxis(const ColorMap& colors, const ColorScale& scale);

  Rgb at(double value) const { return colors_->at(position(value)); }
  double position(double value) const { return (value - low_) / (high_ - low_); }
  double low() const { return low_; }
  double high() const { return high_; }
  const ColorMap& colors() const { return *colors_; }

 private:
  const ColorMap* colors_;
  double low_;
  double high_;
};

// Round numbers within the range, about `wanted` of them.
std::vector<double> round_ticks(double low, double high, int wanted);
// As few digits as tell numbers `step` apart: "0.25".
std::string tick_text(double value, double step);

}  // namespace fovea
