// Values into colours on one stated range, and the bar that says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/render/canvas.h"
#include "fovea/render/figure.h"

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

// A bar beside a map, with numbers at its right, its name above, and below it what hatching means
// where there is some.
class ColorBar {
 public:
  ColorBar(const ColorAxis& axis, std::string_view name, double height, bool with_hatch);
  double width() const { return width_; }
  double height() const { return height_; }  // with the key below
  // Where the bar itself begins below `at`; align this with the top of the map.
  double bar_top() const { return bar_top_; }
  void draw(Canvas& canvas, Point at) const;

 private:
  struct Tick {
    double position;
    TextBlock label;
  };
  ColorAxis axis_;
  TextBlock name_;
  TextBlock hatch_name_;
  std::vector<Tick> ticks_;
  double bar_top_ = 0;
  double bar_height_;
  double width_ = 0;
  double height_ = 0;
};

// The same lying down: the name at the left, the numbers below the bar.
class FlatColorBar {
 public:
  FlatColorBar(const ColorAxis& axis, std::string_view name);
  double width() const { return width_; }
  double height() const { return height_; }
  void draw(Canvas& canvas, Point at) const;

 private:
  ColorAxis axis_;
  TextBlock name_;
  std::vector<std::pair<double, TextBlock>> ticks_;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace fovea
