// Scores detections as COCO does: average precision over recall at 101 points, for each class and
// each threshold of the boxes' IoU, then the mean over classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/explain/pictures/picture_score.h"

namespace fovea {

struct LabelledBox {
  int64_t label = 0;
  PictureBox box;
};
struct ScoredBox {
  int64_t label = 0;
  double score = 0;
  PictureBox box;
};

// Which true object each found object matches, by index, or -1. The highest score chooses first. It
// takes the free object of its class with the largest IoU that reaches the threshold; of equals the
// last, as COCO does.
std::vector<int64_t> match_objects(std::span<const ScoredBox> found,
                                   std::span<const LabelledBox> truth, double threshold);

struct DetectionSummary {
  std::vector<double> thresholds;
  std::vector<double> ap;  // one per threshold; mean over classes with true objects
  double mean_ap = 0;      // over the thresholds
  int64_t pictures = 0;
  int64_t objects = 0;        // true ones
  int64_t found = 0;          // true objects found, at the first threshold and any score
  int64_t false_objects = 0;  // found objects that match none, at the first threshold

  double recall() const;  // 0 without objects
};

// Scores many pictures, added one after the other.
class DetectionScore {
 public:
  // 0.5, 0.55 ... 0.95.
  static std::vector<double> coco_thresholds();

  // Throws Error{kInvalidArgument} unless all thresholds are above 0 and up to 1.
  explicit DetectionScore(std::vector<double> thresholds = coco_thresholds());
  // Adds one picture. Only the 100 highest scores of each class count, as in COCO.
  void add(std::span<const ScoredBox> found, std::span<const LabelledBox> truth);
  DetectionSummary summary() const;

 private:
  struct Hit {
    int64_t label;
    double score;
    std::vector<bool> is_true;  // at each threshold
  };
  std::vector<double> thresholds_;
  std::vector<Hit> hits_;
  std::vector<int64_t> labels_;  // those of true objects
  int64_t pictures_ = 0;
};

}  // namespace fovea
