// Beside a map whose cells follow a path over their picture: where on it each section of the path
// lies.
#pragma once

#include <vector>

#include "fovea/figure/figure.h"
#include "fovea/render/canvas.h"

namespace fovea {

class PathKeyPicture {
 public:
  explicit PathKeyPicture(const PathKey& key);
  double width() const;
  double height() const;  // with its title
  void draw(Canvas& canvas, Point at) const;

 private:
  struct Letter {
    Point place;  // in cells
    TextBlock text;
  };
  double picture_width_, picture_height_;
  int64_t rows_, cols_;
  CanvasPicture picture_;
  std::vector<std::vector<Point>> edges_;  // in cells
  std::vector<Letter> letters_;
  TextBlock title_;
};

}  // namespace fovea
