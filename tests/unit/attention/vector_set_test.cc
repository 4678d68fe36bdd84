#include "fovea/attention/vector_set.h"

#include <gmock/gmock.h>

#include <numeric>

namespace fovea {
namespace {

using ::testing::ElementsAre;

TEST(VectorSet, APictureOfFiveByTenByThreeIsFiftyVectorsOfThree) {
  std::vector<double> pixels(150);
  std::iota(pixels.begin(), pixels.end(), 0.0);
  const Matrix vectors = vectors_of_picture({.height = 5, .width = 10}, 3, pixels);
  EXPECT_EQ(vectors.rows(), 50);
  EXPECT_EQ(vectors.cols(), 3);
  // Row 2, column 4 is pixel 24, whose channels are numbers 72 to 74.
  EXPECT_THAT(vectors.row(24), ElementsAre(72, 73, 74));
}

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

TEST(VectorSet, RefusesAPictureWithMissingNumbers) {
  EXPECT_THROW(vectors_of_picture({.height = 5, .width = 10}, 3, std::vector<double>(149)), Error);
}

TEST(VectorSet, OneNumberPerVectorBecomesAPictureAgain) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(picture_of_values({.height = 2, .width = 3}, values), (Matrix{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_THROW(picture_of_values({.height = 2, .width = 2}, values), Error);
}

}  // namespace
}  // namespace fovea
