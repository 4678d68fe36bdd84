#include "fovea/explain/pictures/detection_score.h"

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

PictureBox box_of(const Json& json) {
  const auto& sides = json.at("box", "box").as_array("box");
  return {sides[0].as_double("box"), sides[1].as_double("box"), sides[2].as_double("box"),
          sides[3].as_double("box")};
}

TEST(DetectionScore, IsCocosAveragePrecision) {
  const Json file = Json::parse(read_text_file(test_data("explain/detections.json")), "test");
  for (const Json& test_case : file.at("pictures", "test").as_array("pictures")) {
    DetectionScore score;
    for (const Json& picture : test_case.at("pictures", "test").as_array("pictures")) {
      std::vector<LabelledBox> truth;
      for (const Json& one : picture.at("truth", "test").as_array("truth")) {
        truth.push_back({one.at("label", "test").as_int("label"), box_of(one)});
      }
      std::vector<ScoredBox> found;
      for (const Json& one : picture.at("found", "test").as_array("found")) {
        found.push_back({one.at("label", "test").as_int("label"),
                         one.at("score", "test").as_double("score"), box_of(one)});
      }
      score.add(found, truth);
    }
    const DetectionSummary summary = score.summary();
    const auto& expected = test_case.at("ap", "test").as_array("ap");
    ASSERT_EQ(summary.ap.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      // Both are sums of the same few quotients in double.
      EXPECT_NEAR(summary.ap[i], expected[i].as_double("ap"), 1e-12) << i;
    }
  }
}

TEST(DetectionScore, CountsFoundMissedAndFalseObjects) {
  const std::vector<LabelledBox> truth = {{0, {0, 0, 10, 10}}, {1, {20, 20, 30, 30}}};
  DetectionScore score({0.5});
  // The first is found twice, so once falsely; the second has the wrong class.
  score.add(
      std::vector<ScoredBox>{
          {0, 0.9, {0, 0, 10, 10}}, {0, 0.8, {1, 0, 10, 10}}, {2, 0.7, {20, 20, 30, 30}}},
      truth);
  const DetectionSummary summary = score.summary();
  EXPECT_EQ(summary.objects, 2);
  EXPECT_EQ(summary.found, 1);
  EXPECT_EQ(summary.false_objects, 2);
  EXPECT_EQ(summary.recall(), 0.5);
  EXPECT_NEAR(summary.ap[0], 0.5, 1e-12);  // class 0 has 1, class 1 has 0, class 2 no true object
}

TEST(DetectionScore, NothingAtAllScoresZero) {
  EXPECT_EQ(DetectionScore().summary().mean_ap, 0);
  DetectionScore score;
  score.add({}, std::vector<LabelledBox>{{0, {0, 0, 1, 1}}});
  EXPECT_EQ(score.summary().mean_ap, 0);
  EXPECT_EQ(score.summary().recall(), 0);
}

TEST(DetectionScore, RefusesThresholdsThatAreNone) {
  for (const double threshold : {0.0, -1.0, 1.5}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "threshold", [&] {
      DetectionScore({0.5, threshold});
    }));
  }
}

TEST(MatchObjects, TheHigherScoreChoosesFirst) {
  const std::vector<LabelledBox> truth = {{0, {0, 0, 10, 10}}, {0, {4, 0, 14, 10}}};
  const std::vector<ScoredBox> found = {{0, 0.3, {0, 0, 10, 10}}, {0, 0.6, {1, 0, 11, 10}}};
  EXPECT_EQ(match_objects(found, truth, 0.4), (std::vector<int64_t>{1, 0}));  // IoU 0.43, 0.82
  EXPECT_EQ(match_objects(found, truth, 0.5), (std::vector<int64_t>{-1, 0}));
}

}  // namespace
}  // namespace fovea
