// Places the names of boxes: beside their box, inside the picture, and not on each other.
#pragma once

#include <vector>

#include "fovea/figure/geometry.h"

namespace fovea {

struct BoxLabel {
  Rect box;
  double width = 0;  // the label's width; 0: there is no label
  double height = 0;
};

// The rectangle of each label, in the order given; earlier labels choose first. A label goes above
// its box if there is room, else into its corners, below it, or to the nearest free place. Labels
// overlap only if the picture is full.
std::vector<Rect> place_labels(const std::vector<BoxLabel>& labels, const Rect& picture);

}  // namespace fovea
