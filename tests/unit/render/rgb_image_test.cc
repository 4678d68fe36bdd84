#include "fovea/render/rgb_image.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(RgbImage, IsFilledAndKeepsPixels) {
  RgbImage image(3, 2, {1, 2, 3});
  image.set(2, 1, {9, 8, 7});
  EXPECT_EQ(image.at(0, 0), (Rgb{1, 2, 3}));
  EXPECT_EQ(image.at(2, 1), (Rgb{9, 8, 7}));
  EXPECT_EQ(image.bytes.size(), 18U);
}

TEST(RgbImage, RefusesSizesThatCannotBe) {
  EXPECT_THROW(RgbImage(-1, 1), Error);
  EXPECT_THROW(RgbImage(int64_t{1} << 40, int64_t{1} << 40), Error);
}

}  // namespace
}  // namespace fovea
