// The bar that says which colour is which value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/figure/color_axis.h"
#include "fovea/render/canvas.h"

namespace fovea {

// What cells look like that the mask forbids, where there are some.
enum class ForbiddenKey { kNone, kHatch, kPlain };

// A bar beside a map, with numbers at its right, its name above, and below it what such cells are.
class ColorBar {
 public:
  ColorBar(const ColorAxis& axis, std::string_view name, double height, ForbiddenKey forbidden);
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
  ForbiddenKey forbidden_;
  TextBlock forbidden_name_;
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
