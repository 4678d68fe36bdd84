#include "fovea/vision/orientation.h"

#include <gtest/gtest.h>

#include "fovea/vision/exif.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

// Where the stored picture of that width and height holds pixel (x, y) of the upright one: what the
// EXIF standard says about its row 0 and its column 0.
std::pair<int64_t, int64_t> stored_place(int code, int64_t width, int64_t height, int64_t x,
                                         int64_t y) {
  const int64_t right = width - 1, bottom = height - 1;
  switch (code) {
    case 2:  // row 0 is the top, column 0 the right side
      return {right - x, y};
    case 3:  // bottom, right
      return {right - x, bottom - y};
    case 4:  // bottom, left
      return {x, bottom - y};
    case 5:  // left, top
      return {y, x};
    case 6:  // right, top
      return {y, bottom - x};
    case 7:  // right, bottom
      return {right - y, bottom - x};
    case 8:  // left, bottom
      return {right - y, x};
    default:  // top, left
      return {x, y};
  }
}

TEST(Orientation, EveryPixelComesFromWhereTheStandardSays) {
  const Picture stored = support::formula_picture(7, 4, 3);
  for (int code = 1; code <= 8; ++code) {
    SCOPED_TRACE(code);
    const Picture upright = make_upright(stored, static_cast<Orientation>(code));
    ASSERT_EQ(upright.size(), code < 5 ? (PictureSize{7, 4}) : (PictureSize{4, 7}));
    for (int64_t y = 0; y < upright.height; ++y) {
      for (int64_t x = 0; x < upright.width; ++x) {
        const auto [from_x, from_y] = stored_place(code, 7, 4, x, y);
        EXPECT_EQ(upright.at(x, y), stored.at(from_x, from_y));
      }
    }
  }
}

TEST(ExifOrientation, IsUprightWhereTheDataAreDamaged) {
  const std::string exif("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 28);
  EXPECT_EQ(exif_orientation(as_bytes(exif)), Orientation::kRotateRight);
  for (size_t size = 0; size < exif.size() - 2; ++size) {
    EXPECT_EQ(exif_orientation(as_bytes(exif).subspan(0, size)), Orientation::kUpright) << size;
  }
  std::string wide = exif;
  wide[18] = 4;  // a 32-bit number
  EXPECT_EQ(exif_orientation(as_bytes(wide)), Orientation::kRotateRight);
  std::string two = exif;
  two[20] = 2;  // two numbers
  EXPECT_EQ(exif_orientation(as_bytes(two)), Orientation::kUpright);
  std::string far = exif;
  far.replace(10, 4, "\xff\xff\xff\xff");  // the directory is said to lie at 2^32 - 1
  EXPECT_EQ(exif_orientation(as_bytes(far)), Orientation::kUpright);
}

}  // namespace
}  // namespace fovea
