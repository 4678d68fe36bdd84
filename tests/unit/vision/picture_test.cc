#include "fovea/vision/picture.h"

#include <gtest/gtest.h>

#include "support/errors.h"

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
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "-1 x 1", [] { Picture(-1, 1); }));
  EXPECT_TRUE(fails_with(ErrorKind::kOutOfMemory, "does not fit into memory",
                         [] { Picture(int64_t{1} << 40, int64_t{1} << 40); }));
}

}  // namespace
}  // namespace fovea
