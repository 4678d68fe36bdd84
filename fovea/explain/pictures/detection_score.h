// How good detections are, as COCO counts it: average precision over recall at 101 points, for each
// class and each threshold of the boxes' IoU, then the mean over classes.
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

// Of each found object, in the order given, the index of the true object that it finds, or -1. The
// highest score chooses first; it takes the one of its class that nobody has and whose IoU is the
// largest of those that reach the threshold (of equals the last, as COCO does).
std::vector<int64_t> match_objects(std::span<const ScoredBox> found,
                                   std::span<const LabelledBox> truth, double threshold);

struct DetectionSummary {
  std::vector<double> thresholds;
  std::vector<double> ap;  // one per threshold; mean over the classes that have true objects
  double mean_ap = 0;      // over the thresholds
  int64_t pictures = 0;
  int64_t objects = 0;        // true ones
  int64_t found = 0;          // of them, at the first threshold and any score
  int64_t false_objects = 0;  // found objects that match none, at the first threshold

  double recall() const;  // 0 without objects
};

// Collects pictures one after the other.
class DetectionScore {
 public:
  // 0.5, 0.55 ... 0.95.
  static std::vector<double> coco_thresholds();

  // Throws Error{kInvalidArgument} unless all thresholds are above 0 and up to 1.
  explicit DetectionScore(std::vector<double> thresholds = coco_thresholds());
  // One picture. Of each class the 100 highest scores count, as COCO does.
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
  std::vector<int64_t> labels_;  // of true objects
  int64_t pictures_ = 0;
};

}  // namespace fovea
