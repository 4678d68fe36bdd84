#include "fovea/explain/pictures/picture_score.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"

namespace fovea {
namespace {

using Bytes8 = std::vector<uint8_t>;

double jaccard(const Bytes8& a, const Bytes8& b) {
  double both = 0, either = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += a[i] != 0 && b[i] != 0;
    either += a[i] != 0 || b[i] != 0;
  }
  return either == 0 ? 1 : both / either;
}

TEST(JaccardOfObjects, IsThatOfEveryObjectAndOfAllTogether) {
  const Bytes8 labels{0, 1, 1, 2, 2, 2, 0, 9, 0, 1};
  const Bytes8 mask{1, 1, 0, 1, 1, 0, 0, 0, 255, 1};
  const auto found = jaccard_of_objects(mask, labels);
  for (const int object : {0, 1, 2, 9, 5}) {
    Bytes8 alone;
    for (const uint8_t label : labels) alone.push_back(object == 0 ? label != 0 : label == object);
    EXPECT_EQ(found[static_cast<size_t>(object)], jaccard(mask, alone)) << object;
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "10",
                         [&] { jaccard_of_objects(Bytes8{1}, labels); }));
}

TEST(Iou, OfBoxesIsThatOfTheirPixels) {
  const PictureBox a{0, 0, 4, 4};
  EXPECT_EQ(iou(a, a), 1);
  EXPECT_EQ(iou(a, {2, 0, 6, 4}), 8.0 / 24);
  EXPECT_EQ(iou(a, {4, 0, 8, 4}), 0);
  EXPECT_EQ(iou(a, {1, 1, 2, 3}), 2.0 / 16);
  EXPECT_EQ(iou(a, {3, 3, 1, 1}), 0);  // inside out: nothing is in it
  EXPECT_EQ(iou({}, {}), 0);
}

TEST(MaskScore, IsTheMeanOverPicturesOfTheMeanOverObjects) {
  MaskScore score;
  EXPECT_EQ(score.mean(), 0);
  score.add(std::vector<double>{0.2, 0.4});
  score.add(std::vector<double>{0.9});
  score.add({});
  EXPECT_EQ(score.pictures, 2);
  EXPECT_EQ(score.objects, 3);
  EXPECT_NEAR(score.mean(), 0.6, 1e-15);
}

TEST(BoxScore, CountsPicturesWhoseBoxMeetsAnyTrueBoxByHalf) {
  BoxScore score;
  EXPECT_EQ(score.corloc(), 0);
  const std::vector<PictureBox> truth{{0, 0, 2, 2}, {10, 10, 14, 14}};
  score.add({10, 10, 14, 12}, truth);  // exactly one half
  score.add({10, 10, 14, 11.9}, truth);
  score.add({0, 0, 2, 2}, truth);
  score.add({0, 0, 1, 1}, {});
  EXPECT_EQ(score.pictures, 3);
  EXPECT_EQ(score.correct, 2);
  EXPECT_NEAR(score.corloc(), 2.0 / 3, 1e-15);
  EXPECT_NEAR(score.mean_iou(), (0.5 + 7.6 / 16 + 1) / 3, 1e-12);
}

}  // namespace
}  // namespace fovea
