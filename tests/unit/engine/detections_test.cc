#include "fovea/engine/detections.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace fovea {
namespace {

RunResult found(const std::vector<float>& logits, const std::vector<float>& boxes) {
  const auto queries = static_cast<int64_t>(boxes.size() / 4);
  RunResult result;
  result.outputs.logits =
      Tensor::from({queries, static_cast<int64_t>(logits.size()) / queries}, logits);
  result.outputs.pred_boxes = Tensor::from({queries, 4}, boxes);
  return result;
}

TEST(Detections, AreTheBestClassesInPixelsOfThePicture) {
  // Two classes and "no object".
  const RunResult result = found({1, 3, 0, 0, 0, 9, 2, -1, 1}, {0.5F, 0.5F, 0.2F, 0.4F, 0.1F, 0.1F,
                                                                0.1F, 0.1F, 0.9F, 0.5F, 0.4F, 1});
  const std::vector<Detection> all = detections(result, {200, 100}, 0.5);
  ASSERT_EQ(all.size(), 2U);  // the second is nothing
  EXPECT_EQ(all[0].query, 0);
  EXPECT_EQ(all[0].label, 1);
  EXPECT_NEAR(all[0].score, std::exp(3) / (std::exp(1) + std::exp(3) + 1), 1e-12);
  EXPECT_NEAR(all[0].box.left, 80, 1e-5);
  EXPECT_NEAR(all[0].box.top, 30, 1e-5);
  EXPECT_NEAR(all[0].box.right, 120, 1e-5);
  EXPECT_NEAR(all[0].box.bottom, 70, 1e-5);
  EXPECT_EQ(all[1].query, 2);
  EXPECT_EQ(all[1].label, 0);
  EXPECT_NEAR(all[1].box.right, 220, 1e-5);  // over the edge, as the model says
  EXPECT_EQ(detections(result, {200, 100}, 0.0).size(), 3U);
  EXPECT_TRUE(detections(result, {200, 100}, 1.0).empty());
}

TEST(Detections, OfDamagedWeightsAreRefused) {
  const RunResult scores = found({1, NAN, 0}, {0, 0, 1, 1});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "scores of objects are not all finite", [&] {
    detections(scores, {10, 10}, 0);
  }));
  const RunResult boxes = found({1, 2, 0}, {0, 0, INFINITY, 1});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "boxes are not all finite", [&] {
    detections(boxes, {10, 10}, 0);
  }));
}

TEST(Detections, NeedLogitsAndBoxes) {
  RunResult result = found({1, 2}, {0, 0, 1, 1});
  result.outputs.pred_boxes = {};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "detects", [&] {
    detections(result, {10, 10}, 0.5);
  }));
}

}  // namespace
}  // namespace fovea
