// How weights lie over a photograph. The photograph is greyed and faded; a colour covers it, more
// of it the larger the weight. So what nobody looks at can still be seen, and what is looked at
// stands out.
#pragma once

#include "fovea/figure/color_map.h"
#include "fovea/vision/picture.h"

namespace fovea {

// How much black covers patches that are not shown.
inline constexpr double kHiddenCover = 0.68;

Rgb quiet(Rgb color);
Picture quiet(const Picture& picture);

// A colour, and how much of the picture it covers, up to `opacity`. Cover grows steeply from zero,
// so that small weights show too. The darkest colours are left out, because they look like shadow.
struct Tint {
  Rgb color;
  double cover = 0;
};
Tint tint_of(const ColorMap& colors, double position, double opacity);

// The colours as they look over `picture`, on average. A colour bar beside it must show these.
ColorMap colors_over(const Picture& picture, const ColorMap& colors, double opacity);

}  // namespace fovea
