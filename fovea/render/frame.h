// The frame of every drawing: white margin, title above, caption below.
#pragma once

#include <functional>
#include <string>

#include "fovea/figure/figure.h"
#include "fovea/render/canvas.h"

namespace fovea {

// A drawing that is laid out but not drawn yet.
struct Body {
  double width = 0;
  double height = 0;
  // Draws it with its top left corner at the point.
  std::function<void(Canvas&, Point)> draw;
  // The side of the smallest cell: a PNG is made so large that a cell has whole pixels. 0: there
  // are none.
  double cell = 0;
};

// The body within its margin, title and caption.
Body framed(Body body, const FigureText& text);

// Draws `parts` one below the other, `space` apart.
Body stacked(std::vector<Body> parts, double space);

}  // namespace fovea
