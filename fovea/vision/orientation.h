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

// As Pillow's ImageOps.exif_transpose.
Picture make_upright(Picture stored, Orientation orientation);

}  // namespace fovea
