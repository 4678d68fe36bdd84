#include "fovea/vision/orientation.h"

#include <algorithm>
#include <utility>

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

PictureSize turned_size(PictureSize size, Orientation orientation) {
  return turn_of(orientation).swap ? PictureSize{size.height, size.width} : size;
}

PicturePoint to_stored(PicturePoint point, PictureSize upright, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  const PictureSize stored = turned_size(upright, orientation);
  if (turn.swap) std::swap(point.x, point.y);
  if (turn.mirror_x) point.x = static_cast<double>(stored.width) - point.x;
  if (turn.mirror_y) point.y = static_cast<double>(stored.height) - point.y;
  return point;
}

PicturePoint to_upright(PicturePoint stored_point, PictureSize upright, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  const PictureSize stored = turned_size(upright, orientation);
  PicturePoint point = stored_point;
  if (turn.mirror_x) point.x = static_cast<double>(stored.width) - point.x;
  if (turn.mirror_y) point.y = static_cast<double>(stored.height) - point.y;
  if (turn.swap) std::swap(point.x, point.y);
  return point;
}

PictureRectangle to_stored(const PictureRectangle& rectangle, PictureSize upright,
                           Orientation orientation) {
  const PicturePoint a =
      to_stored(PicturePoint{rectangle.left, rectangle.top}, upright, orientation);
  const PicturePoint b =
      to_stored(PicturePoint{rectangle.right, rectangle.bottom}, upright, orientation);
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

Picture make_upright(Picture stored, Orientation orientation) {
  if (orientation == Orientation::kUpright) return stored;
  const Turn turn = turn_of(orientation);
  const PictureSize size = turned_size(stored.size(), orientation);
  Picture upright(size.width, size.height);
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
