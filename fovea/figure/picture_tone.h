// How weights lie over a photograph. The photograph is grey and dark; a colour covers it, more of
// it the larger the weight. So what nobody looks at can still be seen, and what is looked at stands
// out. A photograph in its own colours would be taken for weights.
#pragma once

#include "fovea/figure/color_map.h"
#include "fovea/vision/picture.h"

namespace fovea {

// The photograph below weights: its lightness, stretched from the 1 % that is darkest to the 1 %
// that is lightest, between nearly black and a middle grey.
Picture dark_ground(const Picture& picture);
// The same with less contrast, for a picture so small that its detail is only noise.
Picture faint_ground(const Picture& picture);

// A colour, and how much of the ground it covers. Places go from 0 to 1; with `is_signed` the
// middle has no colour. The darkest colours are left out of a map that goes one way: they are
// darker than the ground.
struct Tint {
  Rgb color;
  double cover = 0;
};
Tint tint_of(const ColorMap& colors, double place, bool is_signed);

// The colours as they look over a ground of middling lightness: what a colour bar shows.
ColorMap colors_over_ground(const ColorMap& colors, bool is_signed);

}  // namespace fovea
