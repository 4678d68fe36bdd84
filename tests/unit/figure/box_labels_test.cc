#include "fovea/figure/box_labels.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

constexpr Rect kPicture{10, 20, 200, 100};

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

void expect_inside(const Rect& rect) {
  EXPECT_GE(rect.x, kPicture.x);
  EXPECT_GE(rect.y, kPicture.y);
  EXPECT_LE(rect.x + rect.width, kPicture.x + kPicture.width);
  EXPECT_LE(rect.y + rect.height, kPicture.y + kPicture.height);
}

TEST(PlaceLabels, StandAboveTheirBoxWhereThereIsRoom) {
  const auto places = place_labels({{{50, 60, 40, 30}, 25, 10}}, kPicture);
  EXPECT_EQ(places[0].x, 50);
  EXPECT_EQ(places[0].y, 50);
}

TEST(PlaceLabels, StandInsideAtTheUpperEdgeOfThePicture) {
  const auto places = place_labels({{{50, 22, 40, 30}, 25, 10}}, kPicture);
  EXPECT_EQ(places[0].y, 22);
}

TEST(PlaceLabels, StayInThePictureAtItsRightEdge) {
  const auto places = place_labels({{{200, 60, 10, 30}, 25, 10}}, kPicture);
  EXPECT_EQ(places[0].x + places[0].width, 210);
}

TEST(PlaceLabels, DoNotLieOnEachOtherEvenIfAllBoxesAreTheSame) {
  std::vector<BoxLabel> labels(9, {{50, 60, 40, 30}, 60, 10});
  const auto places = place_labels(labels, kPicture);
  for (size_t i = 0; i < places.size(); ++i) {
    expect_inside(places[i]);
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(places[i], places[j])) << i << " " << j;
  }
}

TEST(PlaceLabels, BoxesWithoutNamesTakeNoPlace) {
  const auto places =
      place_labels({{{50, 60, 40, 30}, 0, 0}, {{50, 60, 40, 30}, 25, 10}}, kPicture);
  EXPECT_EQ(places[0].width, 0);
  EXPECT_EQ(places[1].y, 50);
}

TEST(PlaceLabels, AFullPictureStillGivesEachLabelAPlace) {
  std::vector<BoxLabel> labels(100, {{50, 60, 40, 30}, 190, 10});
  for (const Rect& place : place_labels(labels, kPicture)) {
    expect_inside(place);
    EXPECT_GT(place.width, 0);
  }
}

}  // namespace
}  // namespace fovea
