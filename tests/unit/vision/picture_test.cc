#include "fovea/vision/picture.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Picture, IsFilledAndKeepsPixels) {
  Picture picture(3, 2, {1, 2, 3});
  picture.set(2, 1, {9, 8, 7});
  EXPECT_EQ(picture.at(0, 0), (Rgb{1, 2, 3}));
  EXPECT_EQ(picture.at(2, 1), (Rgb{9, 8, 7}));
  EXPECT_EQ(picture.bytes.size(), 18U);
}

TEST(Picture, RefusesSizesThatCannotBe) {
  EXPECT_THROW(Picture(-1, 1), Error);
  EXPECT_THROW(Picture(int64_t{1} << 40, int64_t{1} << 40), Error);
}

}  // namespace
}  // namespace fovea
