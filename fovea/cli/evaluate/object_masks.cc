// Masks of detected objects, out of attention by every way there is, against true masks.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/object_masks.h"
#include "fovea/ask/session.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/evaluate/objects.h"
#include "fovea/cli/evaluate/report.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/explain/pictures/detection_score.h"

namespace fovea {
namespace {

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

}  // namespace

void evaluate_object_masks(const Args& args, const Engine& engine) {
  const double threshold = threshold_of(args);
  check_layer(args, engine, SiteKind::kEncoderSelf);
  const auto files =
      pictures_with(args["DIR"], "true objects and masks, NAME.json and NAME.mask.png",
                    [](const TruthFiles& f) { return !f.objects.empty() && !f.mask.empty(); });
  std::optional<int64_t> layer;
  if (args.has("layer")) layer = args.integer("layer");
  const std::vector<ScoredMethod> methods = methods_of(engine, layer);
  ScoreReport report{.kind = "masks",
                     .title = "Jaccard index (IoU) with the true mask of each object",
                     .model = engine.name(),
                     .columns = {"trained"}};
  for (const ScoredMethod& method : methods) report.rows.push_back(method.row);
  int64_t missed = 0;
  for_each_detection(
      args, engine, files, threshold, [&](const TruthFiles& picture, const DetectedObjects& run) {
        const PictureSize size = run.picture();
        const LabelMask truth = read_true_mask(picture, size);
        const std::vector<TrueObject> objects = read_true_objects(picture, size);
        const std::vector<int64_t> found = finders(run, objects);
        missed += std::ranges::count(found, -1);
        report.layer = run.record(SiteKind::kEncoderSelf, layer)->site.layer;
        std::vector<double> scores;
        for (const ScoredMethod& method : methods) {
          const std::vector<PixelMask> masks = object_masks(run, method.method);
          MaskScore score;
          std::vector<double> jaccards;
          for (size_t i = 0; i < objects.size(); ++i) {
            const auto id = static_cast<size_t>(objects[i].id);
            const bool known = found[i] >= 0 && id > 0 && id < 256;
            jaccards.push_back(known
                                   ? jaccard_of_objects(masks[static_cast<size_t>(found[i])].pixels,
                                                        truth.labels)[id]
                                   : 0);
          }
          score.add(jaccards);
          scores.push_back(score.mean());
        }
        report.pictures.push_back({picture.name, static_cast<int64_t>(objects.size()), {scores}});
      });
  const std::string& about = engine.checkpoint().note;
  report.notes.push_back(fmt::format(
      "Mean of heads. An object counts 0 if no box of its class with a score above {:g} "
      "has an IoU of 0.5 with it: {} of {}.{}",
      threshold, missed, report.objects(),
      about.empty() ? "" : " This is " + to_one_line(about) + "."));
  show_report(report, args);
}

double threshold_of(const Args& args) {
  const double threshold = args.has("threshold") ? args.real("threshold") : 0.7;
  if (!(threshold <= 1)) {
    fail(ErrorKind::kInvalidArgument, "--threshold is {} but a score is 0 to 1", args["threshold"]);
  }
  return threshold;
}

void for_each_detection(
    const Args& args, const Engine& engine, const std::vector<TruthFiles>& files, double threshold,
    const std::function<void(const TruthFiles&, const DetectedObjects&)>& visit) {
  Progress progress("evaluating", static_cast<int64_t>(files.size()));
  for (const TruthFiles& picture : files) {
    const Session session = Session::open(
        engine, {.what = read_picture_bytes(picture.picture), .size = picture_size(args)},
        {.values = false});
    visit(picture, DetectedObjects(*session.run({.all_logits = true}), threshold));
    progress.advance();
  }
}

int64_t label_index(const Engine& engine, const std::string& name) {
  const std::vector<std::string> labels = engine.labels();
  const auto found = std::ranges::find(labels, name);
  return found == labels.end() ? -1 : found - labels.begin();
}

}  // namespace fovea
