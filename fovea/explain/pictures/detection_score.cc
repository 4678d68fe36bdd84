#include "fovea/explain/pictures/detection_score.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr size_t kMostPerClass = 100;
constexpr int64_t kRecallPoints = 101;

// Indices of `found` by falling score; of equals the first comes first.
std::vector<size_t> by_score(std::span<const ScoredBox> found) {
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t i) { return found[i].score; });
  return order;
}

// Mean precision at recalls 0, 0.01 ... 1, where the precision at a recall is the best that any
// higher recall still has.
double average_precision(const std::vector<bool>& is_true, int64_t objects) {
  std::vector<double> precision;
  std::vector<double> recall;
  double right = 0;
  for (size_t i = 0; i < is_true.size(); ++i) {
    right += is_true[i] ? 1 : 0;
    precision.push_back(right / static_cast<double>(i + 1));
    recall.push_back(right / static_cast<double>(objects));
  }
  for (size_t i = precision.size(); i-- > 1;) {
    precision[i - 1] = std::max(precision[i - 1], precision[i]);
  }
  double sum = 0;
  for (int64_t point = 0; point < kRecallPoints; ++point) {
    // As numpy's linspace(0, 1, 101) rounds it.
    const double wanted = static_cast<double>(point) * 0.01;
    const auto at = std::ranges::lower_bound(recall, point == kRecallPoints - 1 ? 1.0 : wanted);
    if (at != recall.end()) sum += precision[static_cast<size_t>(at - recall.begin())];
  }
  return sum / static_cast<double>(kRecallPoints);
}

}  // namespace

std::vector<int64_t> match_objects(std::span<const ScoredBox> found,
                                   std::span<const LabelledBox> truth, double threshold) {
  std::vector<int64_t> matches(found.size(), -1);
  std::vector<bool> taken(truth.size(), false);
  for (const size_t i : by_score(found)) {
    double best = std::min(threshold, 1 - 1e-10);
    for (size_t t = 0; t < truth.size(); ++t) {
      if (taken[t] || truth[t].label != found[i].label) continue;
      const double overlap = iou(found[i].box, truth[t].box);
      if (overlap < best) continue;
      best = overlap;
      matches[i] = static_cast<int64_t>(t);
    }
    if (matches[i] >= 0) taken[static_cast<size_t>(matches[i])] = true;
  }
  return matches;
}

double DetectionSummary::recall() const {
  return objects == 0 ? 0 : static_cast<double>(found) / static_cast<double>(objects);
}

std::vector<double> DetectionScore::coco_thresholds() {
  std::vector<double> thresholds;
  for (int i = 10; i < 20; ++i) thresholds.push_back(i * 0.05);
  return thresholds;
}

DetectionScore::DetectionScore(std::vector<double> thresholds)
    : thresholds_(std::move(thresholds)) {
  if (thresholds_.empty()) fail(ErrorKind::kInvalidArgument, "a score needs a threshold of IoU");
  for (const double threshold : thresholds_) {
    if (!(threshold > 0 && threshold <= 1)) {
      fail(ErrorKind::kInvalidArgument,
           "a threshold of IoU is {} but should be above 0 and up to 1", threshold);
    }
  }
}

void DetectionScore::add(std::span<const ScoredBox> found, std::span<const LabelledBox> truth) {
  ++pictures_;
  for (const LabelledBox& object : truth) labels_.push_back(object.label);
  std::vector<ScoredBox> counted;
  std::map<int64_t, size_t> per_class;
  for (const size_t i : by_score(found)) {
    if (++per_class[found[i].label] <= kMostPerClass) counted.push_back(found[i]);
  }
  const size_t first = hits_.size();
  for (const ScoredBox& object : counted) hits_.push_back({object.label, object.score, {}});
  for (const double threshold : thresholds_) {
    const std::vector<int64_t> matches = match_objects(counted, truth, threshold);
    for (size_t i = 0; i < counted.size(); ++i) {
      hits_[first + i].is_true.push_back(matches[i] >= 0);
    }
  }
}

DetectionSummary DetectionScore::summary() const {
  DetectionSummary summary{.thresholds = thresholds_,
                           .ap = std::vector<double>(thresholds_.size()),
                           .pictures = pictures_,
                           .objects = static_cast<int64_t>(labels_.size())};
  for (const Hit& hit : hits_) ++(hit.is_true[0] ? summary.found : summary.false_objects);
  std::map<int64_t, int64_t> objects_of;
  for (const int64_t label : labels_) ++objects_of[label];
  for (const auto& [label, objects] : objects_of) {
    std::vector<const Hit*> hits;
    for (const Hit& hit : hits_) {
      if (hit.label == label) hits.push_back(&hit);
    }
    std::ranges::stable_sort(hits, std::ranges::greater{},
                             [](const Hit* hit) { return hit->score; });
    for (size_t t = 0; t < thresholds_.size(); ++t) {
      std::vector<bool> is_true;
      for (const Hit* hit : hits) is_true.push_back(hit->is_true[t]);
      summary.ap[t] += average_precision(is_true, objects) / static_cast<double>(objects_of.size());
    }
  }
  summary.mean_ap = std::accumulate(summary.ap.begin(), summary.ap.end(), 0.0) /
                    static_cast<double>(summary.ap.size());
  return summary;
}

}  // namespace fovea
