// How a camera was held: EXIF orientation. A file's pixels are stored as the sensor lay; the
// upright picture is what everyone sees.
#pragma once

#include "fovea/vision/picture.h"

namespace fovea {

// The values of EXIF tag 0x0112. The words say what must be done to the stored picture.
enum class Orientation {
  kUpright = 1,
  kFlipLeftRight = 2,
  kRotate180 = 3,
  kFlipTopBottom = 4,
  kTranspose = 5,
  kRotateRight = 6,
  kTransverse = 7,
  kRotateLeft = 8,
};

struct PicturePoint {
  double x = 0;
  double y = 0;
  bool operator==(const PicturePoint&) const = default;
};

// Left and top are inside, right and bottom are not; fractions of a pixel are meant.
struct PictureRectangle {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  bool empty() const { return right <= left || bottom <= top; }
  bool operator==(const PictureRectangle&) const = default;
};

// As Pillow's ImageOps.exif_transpose.
Picture make_upright(Picture stored, Orientation orientation);

// The upright picture's size for that of the stored one, and the other way round.
PictureSize turned_size(PictureSize size, Orientation orientation);

// Between the two pictures; `upright` is the size of the upright picture. Points are continuous:
// the centre of pixel (0, 0) is (0.5, 0.5).
PicturePoint to_stored(PicturePoint point, PictureSize upright, Orientation orientation);
PicturePoint to_upright(PicturePoint stored_point, PictureSize upright, Orientation orientation);
PictureRectangle to_stored(const PictureRectangle& rectangle, PictureSize upright,
                           Orientation orientation);

}  // namespace fovea
