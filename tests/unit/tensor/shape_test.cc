#include "fovea/tensor/shape.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace fovea {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape({0}).elements(), 0);
  EXPECT_EQ(Shape({2, 3, 4}).elements(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).back(), 4);
  EXPECT_EQ(Shape({2, 3, 4})[1], 3);
}

TEST(Shape, AnAxisOfNoSizeMakesItEmptyHoweverLargeTheOthers) {
  EXPECT_EQ(Shape({INT64_MAX, 0, INT64_MAX}).elements(), 0);
}

TEST(Shape, RefusesNegativeSizes) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "negative size -1", [] { Shape({2, -1}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "negative", [] { Shape({0, INT64_MIN}); }));
}

TEST(Shape, RefusesMoreElementsThanBytesCanCount) {
  EXPECT_EQ(Shape({INT64_MAX / 8}).elements(), INT64_MAX / 8);
  EXPECT_TRUE(
      fails_with(ErrorKind::kOutOfMemory, "more elements", [] { Shape({INT64_MAX / 8 + 1}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kOutOfMemory, "more elements", [] {
    Shape({int64_t{1} << 32, int64_t{1} << 32});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kOutOfMemory, "more elements", [] {
    Shape({3037000500, 3037000500, 2});
  }));
}

TEST(Shape, ComparesAndPrints) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_FALSE(Shape({2, 3}) == Shape({3, 2}));
  EXPECT_FALSE(Shape({1}) == Shape());
  EXPECT_EQ(to_string(Shape({12, 64, 0})), "[12, 64, 0]");
  EXPECT_EQ(to_string(Shape()), "[]");
}

}  // namespace
}  // namespace fovea
