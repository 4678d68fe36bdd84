#include "fovea/render/rgb_image.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 28;

}  // namespace

RgbImage::RgbImage(int64_t image_width, int64_t image_height, Rgb fill)
    : width(image_width), height(image_height) {
  if (width < 0 || height < 0 || (width > 0 && height > kMostPixels / width)) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} pixels cannot be made; the most is {} pixels", width, height,
         kMostPixels);
  }
  bytes.resize(static_cast<size_t>(width * height * 3));
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) set(x, y, fill);
  }
}

Rgb RgbImage::at(int64_t x, int64_t y) const {
  const uint8_t* pixel = bytes.data() + 3 * (y * width + x);
  return {pixel[0], pixel[1], pixel[2]};
}

void RgbImage::set(int64_t x, int64_t y, Rgb color) {
  uint8_t* pixel = bytes.data() + 3 * (y * width + x);
  pixel[0] = color.red;
  pixel[1] = color.green;
  pixel[2] = color.blue;
}

}  // namespace fovea
