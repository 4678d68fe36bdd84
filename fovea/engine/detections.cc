#include "fovea/engine/detections.h"

#include "fovea/base/error.h"
#include "fovea/engine/classes.h"

namespace fovea {
namespace {

// Turns a box of centre and size, as fractions of the picture, into a rectangle.
PictureRectangle rectangle(std::span<const float> box, PictureSize picture) {
  const auto width = static_cast<double>(picture.width);
  const auto height = static_cast<double>(picture.height);
  const double x = box[0], y = box[1], half_width = 0.5 * box[2], half_height = 0.5 * box[3];
  return {(x - half_width) * width, (y - half_height) * height, (x + half_width) * width,
          (y + half_height) * height};
}

}  // namespace

std::vector<Detection> detections(const RunResult& result, PictureSize picture, double threshold) {
  const Tensor& logits = result.outputs.logits.tensor;
  const Tensor& boxes = result.outputs.pred_boxes.tensor;
  if (logits.rank() != 2 || logits.size(1) < 2 ||
      !(boxes.shape() == Shape{logits.size(0), int64_t{4}})) {
    fail(ErrorKind::kInvalidArgument,
         "the run has logits {} and boxes {}; objects need a model that detects, run with logits",
         to_string(logits.shape()), to_string(boxes.shape()));
  }
  for (const Tensor* numbers : {&logits, &boxes}) {
    if (std::ranges::all_of(numbers->values<float>(), [](float x) { return std::isfinite(x); })) {
      continue;
    }
    fail(ErrorKind::kBadFile,
         "the model's {} are not all finite, so there is no telling what it finds; its weights are "
         "damaged",
         numbers == &logits ? "scores of objects" : "boxes");
  }
  std::vector<Detection> found;
  const auto classes = static_cast<size_t>(logits.size(1));
  for (int64_t query = 0; query < logits.size(0); ++query) {
    const auto row = static_cast<size_t>(query);
    const ObjectClass best = object_class(logits.values<float>().subspan(row * classes, classes));
    if (!(best.probability > threshold)) continue;
    found.push_back({.query = query,
                     .label = best.label,
                     .score = best.probability,
                     .box = rectangle(boxes.values<float>().subspan(row * 4, 4), picture)});
  }
  return found;
}

}  // namespace fovea
