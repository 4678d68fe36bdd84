#include "fovea/vision/picture.h"

#include <limits>
#include <new>

#include "fovea/base/error.h"

namespace fovea {

Picture::Picture(int64_t picture_width, int64_t picture_height, Rgb fill)
    : width(picture_width), height(picture_height) {
  if (width < 1 || height < 1) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} pixels cannot be; both must be 1 or more", width, height);
  }
  try {
    constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();
    if (width > kMostBytes / 3 / height) throw std::bad_alloc();  // no vector is asked for so many
    bytes.resize(static_cast<size_t>(width * height * 3));
  } catch (const std::exception&) {  // bad_alloc or length_error
    fail(ErrorKind::kOutOfMemory,
         "a picture of {} x {} pixels does not fit into memory; make it smaller", width, height);
  }
  if (fill == Rgb{}) return;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) set(x, y, fill);
  }
}

Rgb Picture::at(int64_t x, int64_t y) const {
  FOVEA_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  const uint8_t* pixel = row(y) + x * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

void Picture::set(int64_t x, int64_t y, Rgb color) {
  FOVEA_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  uint8_t* pixel = row(y) + x * 3;
  pixel[0] = color.red;
  pixel[1] = color.green;
  pixel[2] = color.blue;
}

}  // namespace fovea
