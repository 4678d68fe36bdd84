#include "fovea/vision/orientation.h"

#include <gtest/gtest.h>

#include "fovea/vision/exif.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

TEST(Orientation, PointsLeadToTheStoredPixelThatMakeUprightTook) {
  const Picture stored = testing::formula_picture(7, 4, 3);
  for (int code = 1; code <= 8; ++code) {
    SCOPED_TRACE(code);
    const auto orientation = static_cast<Orientation>(code);
    const Picture upright = make_upright(stored, orientation);
    ASSERT_EQ(upright.size(), turned_size(stored.size(), orientation));
    for (int64_t y = 0; y < upright.height; ++y) {
      for (int64_t x = 0; x < upright.width; ++x) {
        const PicturePoint center{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
        const PicturePoint there = to_stored(center, upright.size(), orientation);
        EXPECT_EQ(upright.at(x, y),
                  stored.at(static_cast<int64_t>(there.x), static_cast<int64_t>(there.y)));
        EXPECT_EQ(to_upright(there, upright.size(), orientation), center);
      }
    }
  }
}

TEST(Orientation, ARectangleKeepsItsAreaAndTurnsItsSides) {
  const PictureRectangle rectangle{1, 2, 4, 3};
  const PictureRectangle turned =
      to_stored(rectangle, {10, 20}, Orientation::kRotateRight);  // stored: 20 x 10
  EXPECT_EQ(turned, (PictureRectangle{2, 6, 3, 9}));
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
