// Masks of detected objects, out of attention by every way there is, against true masks.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/many/detection_scores.h"
#include "fovea/ask/many/picture_scores.h"
#include "fovea/ask/object_masks.h"
#include "fovea/ask/session.h"
#include "fovea/base/utf8.h"
#include "fovea/explain/pictures/detection_score.h"

namespace fovea {
namespace {

constexpr const char* kMissed = "missed";  // true objects that no box finds

struct ScoredMethod {
  ScoreRow row;
  MaskMethod method;
};

std::vector<ScoredMethod> methods_of(const Engine& engine, std::optional<int64_t> layer) {
  std::vector<ScoredMethod> methods;
  for (const MaskSource source : mask_sources(engine)) {
    const bool head = source == MaskSource::kHead;
    const std::string group = head                             ? "the mask head"
                              : source == MaskSource::kEncoder ? "encoder row of the box's middle"
                                                               : "cross-attention of the query";
    for (const char* cut : {"otsu", "mass:0.6", "maximum:0.25", "maximum:0.5"}) {
      if (head && cut != std::string("otsu")) break;
      for (const bool in_box : {false, true}) {
        const MaskMethod method{source, head ? MaskRule{} : parse_mask_rule(cut), in_box, layer};
        std::string key(key_of(source));
        if (!head) key += "_" + to_string(method.rule);
        std::string label = head ? "probability above 0.5" : to_string(method.rule);
        if (in_box) label += ", in the box";
        if (in_box) key += "_in_box";
        std::ranges::replace(key, ':', '_');
        methods.push_back({{key, label, group}, method});
      }
    }
  }
  return methods;
}

// Which detection finds each true object, -1 where none does.
std::vector<int64_t> finders(const DetectedObjects& run, const std::vector<TrueObject>& truth) {
  std::vector<ScoredBox> found;
  for (const DetectedObject& object : run.objects()) {
    found.push_back({object.label, object.score, object.box});
  }
  std::vector<LabelledBox> boxes;
  for (const TrueObject& object : truth) {
    boxes.push_back({label_index(run.engine(), object.label), object.box});
  }
  std::vector<int64_t> result(truth.size(), -1);
  const std::vector<int64_t> matches = match_objects(found, boxes, 0.5);
  for (size_t i = 0; i < matches.size(); ++i) {
    if (matches[i] >= 0) result[static_cast<size_t>(matches[i])] = static_cast<int64_t>(i);
  }
  return result;
}

// The mean over the true objects of how well the masks of their finders cover them.
double mean_jaccard(const std::vector<PixelMask>& masks, const std::vector<TrueObject>& objects,
                    const std::vector<int64_t>& found, const LabelMask& truth) {
  MaskScore score;
  std::vector<double> jaccards;
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto id = static_cast<size_t>(objects[i].id);
    const bool known = found[i] >= 0 && id > 0 && id < 256;
    jaccards.push_back(
        known ? jaccard_of_objects(masks[static_cast<size_t>(found[i])].pixels, truth.labels)[id]
              : 0);
  }
  score.add(jaccards);
  return score.mean();
}

class ObjectMaskCounter : public Counter {
 public:
  explicit ObjectMaskCounter(const ManyAsked& asked)
      : engine_(asked.engine),
        threshold_(threshold_of(asked.question)),
        layer_(asked.question.place.layer),
        methods_(methods_of(asked.engine, layer_)) {}

  void count(InputQueue& inputs, ManyState& state) override {
    count_one(inputs, state, [&](const InputQueue::Item& item, const Sample& sample) {
      const Session session = Session::open(engine_, sample.input, {.values = false});
      const DetectedObjects run(*session.run({.all_logits = true}), threshold_);
      const LabelMask& truth = true_mask(sample.truth, run.picture());
      const std::vector<TrueObject> objects = true_objects(sample.truth, run.picture());
      const std::vector<int64_t> found = finders(run, objects);
      std::vector<double> scores;
      for (const ScoredMethod& method : methods_) {
        scores.push_back(mean_jaccard(object_masks(run, method.method), objects, found, truth));
      }
      const int64_t layer = run.record(SiteKind::kEncoderSelf, layer_)->site.layer;
      ManyState::Row row{item.number, item.name,
                         score_numbers(std::ssize(objects), layer, {scores})};
      return [row = std::move(row), missed = std::ranges::count(found, -1)](ManyState& to) {
        to.rows.push_back(row);
        to.counts[kMissed] += missed;
      };
    });
  }

 private:
  Engine engine_;
  double threshold_;
  std::optional<int64_t> layer_;
  std::vector<ScoredMethod> methods_;
};

}  // namespace

std::unique_ptr<Counter> object_mask_counter(const ManyAsked& asked) {
  return std::make_unique<ObjectMaskCounter>(asked);
}

Answer object_mask_answer(const ManyAsked& asked, const ManyState& state) {
  ScoreReport report = report_of(asked, state);
  report.kind = "masks";
  report.title = "Jaccard index (IoU) with the true mask of each object";
  for (const ScoredMethod& method : methods_of(asked.engine, asked.question.place.layer)) {
    report.rows.push_back(method.row);
  }
  const std::string& about = asked.engine.checkpoint().note;
  const auto missed = state.counts.find(kMissed);
  report.notes.push_back(fmt::format(
      "Mean of heads. An object counts 0 if no box of its class with a score above {:g} "
      "has an IoU of 0.5 with it: {} of {}.{}",
      threshold_of(asked.question), missed == state.counts.end() ? 0 : missed->second,
      report.objects(), about.empty() ? "" : " This is " + to_one_line(about) + "."));
  return scores_answer(report);
}

}  // namespace fovea
