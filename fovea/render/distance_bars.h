// How much of all weight lies how far away, as bars; short lines say what even attention puts
// there.
#pragma once

#include <vector>

#include "fovea/figure/figure.h"
#include "fovea/render/canvas.h"

namespace fovea {

class DistanceBars {
 public:
  // Bars of what is drawn apart come first, in grey. `width` and `height` are those of the plot.
  DistanceBars(const MapOverview& overview, double width, double height);
  double width() const { return width_; }
  double height() const;  // with its title above and its numbers below
  void draw(Canvas& canvas, Point at) const;

 private:
  struct Bar {
    double share = 0;
    double even = -1;  // none
    TextBlock name;
    TextBlock number;  // empty where the share is small
  };
  double plot_top() const;

  double width_, height_;
  double most_ = 0;
  std::vector<Bar> bars_;
  TextBlock title_, note_;
};

}  // namespace fovea
