// Where the names of boxes stand: beside their box, inside the picture, and not on each other.
#pragma once

#include <vector>

#include "fovea/figure/geometry.h"

namespace fovea {

struct BoxLabel {
  Rect box;
  double width = 0;  // of the label; 0: there is none
  double height = 0;
};

// The rectangle of each label, in the order given; those that come first have the first choice.
// Above the box if there is room, else in its corners, below it, or as near as something is free.
// Labels overlap only where the picture is full.
std::vector<Rect> place_labels(const std::vector<BoxLabel>& labels, const Rect& picture);

}  // namespace fovea
