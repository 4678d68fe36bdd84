// The one thing we want of EXIF: how the camera was held.
#pragma once

#include "fovea/base/file.h"
#include "fovea/vision/orientation.h"

namespace fovea {

// `exif` is a TIFF header with its directories, with or without "Exif\0\0" before it. What is
// damaged, or says nothing of orientation, is upright.
Orientation exif_orientation(Bytes exif);

}  // namespace fovea
