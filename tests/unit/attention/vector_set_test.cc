#include "fovea/attention/vector_set.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(VectorSet, IndexAndPlaceAreInverse) {
  const PixelGrid grid{.height = 5, .width = 10};
  EXPECT_EQ(grid.index_of({.row = 2, .column = 4}), 24);
  for (int64_t index = 0; index < grid.size(); ++index) {
    EXPECT_EQ(grid.index_of(grid.place_of(index)), index);
  }
}

TEST(VectorSet, RefusesPlacesOutsideThePicture) {
  const PixelGrid grid{.height = 5, .width = 10};
  EXPECT_THROW(grid.index_of({.row = 5, .column = 0}), Error);
  EXPECT_THROW(grid.index_of({.row = 0, .column = 10}), Error);
  EXPECT_THROW(grid.index_of({.row = -1, .column = 0}), Error);
  EXPECT_THROW(grid.place_of(50), Error);
  EXPECT_THROW(grid.place_of(-1), Error);
}

TEST(VectorSet, OneNumberPerVectorBecomesAPictureAgain) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(picture_of_values({.height = 2, .width = 3}, values), (Matrix{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_THROW(picture_of_values({.height = 2, .width = 2}, values), Error);
}

}  // namespace
}  // namespace fovea
