// Places on a drawing. y grows downwards.
#pragma once

#include <cmath>

namespace fovea {

struct Point {
  double x = 0;
  double y = 0;
};
// Rounds to whole units, where the edges of squares are sharp.
inline Point on_grid(Point point) {
  return {std::round(point.x), std::round(point.y)};
}

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

}  // namespace fovea
