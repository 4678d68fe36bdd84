#include "fovea/vision/orientation.h"

#include <algorithm>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// From upright to stored: swap the axes first, then mirror along each stored axis.
struct Turn {
  bool swap = false;
  bool mirror_x = false;
  bool mirror_y = false;
};

Turn turn_of(Orientation orientation) {
  switch (orientation) {
    case Orientation::kUpright:
      break;
    case Orientation::kFlipLeftRight:
      return {.mirror_x = true};
    case Orientation::kRotate180:
      return {.mirror_x = true, .mirror_y = true};
    case Orientation::kFlipTopBottom:
      return {.mirror_y = true};
    case Orientation::kTranspose:
      return {.swap = true};
    case Orientation::kRotateRight:
      return {.swap = true, .mirror_y = true};
    case Orientation::kTransverse:
      return {.swap = true, .mirror_x = true, .mirror_y = true};
    case Orientation::kRotateLeft:
      return {.swap = true, .mirror_x = true};
  }
  return {};
}

}  // namespace

Picture make_upright(Picture stored, Orientation orientation) {
  if (orientation == Orientation::kUpright) return stored;
  const Turn turn = turn_of(orientation);
  Picture upright =
      turn.swap ? Picture(stored.height, stored.width) : Picture(stored.width, stored.height);
  parallel_for(upright.height, [&](int64_t y) {
    uint8_t* target = upright.row(y);
    for (int64_t x = 0; x < upright.width; ++x, target += 3) {
      int64_t stored_x = turn.swap ? y : x;
      int64_t stored_y = turn.swap ? x : y;
      if (turn.mirror_x) stored_x = stored.width - 1 - stored_x;
      if (turn.mirror_y) stored_y = stored.height - 1 - stored_y;
      std::copy_n(stored.row(stored_y) + stored_x * 3, 3, target);
    }
  });
  return upright;
}

}  // namespace fovea
