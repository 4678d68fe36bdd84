#include "fovea/vision/picture.h"

#include <limits>
#include <new>

#include "fovea/base/error.h"

namespace fovea {

Picture::Picture(int64_t picture_width, int64_t picture_height)
    : width(picture_width), height(picture_height) {
  constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();
  if (width < 1 || height < 1 || width > kMostBytes / 3 / height) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} pixels cannot be; both must be 1 or more", width, height);
  }
  try {
    bytes.resize(static_cast<size_t>(width * height * 3));
  } catch (const std::exception&) {  // bad_alloc or length_error
    fail(ErrorKind::kInvalidArgument, "a picture of {} x {} pixels does not fit into memory", width,
         height);
  }
}

std::array<uint8_t, 3> Picture::at(int64_t x, int64_t y) const {
  FOVEA_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  const uint8_t* pixel = row(y) + x * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

}  // namespace fovea
