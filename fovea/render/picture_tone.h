// How weights lie over a photograph: it is greyed and dimmed, and a colour covers the more of it
// the larger the weight. So what nobody looks at is still seen, and what is looked at shines.
#pragma once

#include "fovea/render/color_map.h"
#include "fovea/vision/picture.h"

namespace fovea {

// Of the black over patches that are not shown.
inline constexpr double kHiddenCover = 0.72;

Rgb quiet(Rgb color);
Picture quiet(const Picture& picture);

// How much of the picture the colour at `position` covers: as the root of its distance from zero,
// up to `opacity`.
double cover_of(const ColorMap& colors, double position, double opacity);

// The colours as they look over `picture`, on average: what a colour bar beside it must show.
ColorMap colors_over(const Picture& picture, const ColorMap& colors, double opacity);

}  // namespace fovea
