// Boxes of a detector against true boxes: COCO's average precision.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/evaluate/kind.h"
#include "fovea/cli/evaluate/objects.h"
#include "fovea/cli/evaluate/report.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/table.h"
#include "fovea/explain/pictures/detection_score.h"

namespace fovea {
namespace {

constexpr int kBarWidth = 20;

struct PictureLine {
  std::string name;
  int64_t objects = 0;
  int64_t found = 0;  // at an IoU of 0.5 and a score above the threshold
  int64_t false_objects = 0;
};

struct Evaluation {
  std::string model;
  double threshold = 0;
  DetectionSummary all;     // of every query, as average precision wants it
  DetectionSummary chosen;  // with a score above the threshold
  std::vector<PictureLine> pictures;
  std::vector<std::string> notes;

  double ap_at(double threshold_of_iou) const {
    for (size_t i = 0; i < all.thresholds.size(); ++i) {
      if (std::abs(all.thresholds[i] - threshold_of_iou) < 1e-9) return all.ap[i];
    }
    return 0;
  }
};

std::vector<ScoredBox> boxes_of(const std::vector<DetectedObject>& objects) {
  std::vector<ScoredBox> boxes;
  for (const DetectedObject& object : objects) {
    boxes.push_back({object.label, object.score, object.box});
  }
  return boxes;
}

Evaluation evaluate(const Args& args, const Engine& engine) {
  const auto files = pictures_with(args["DIR"], "true objects, NAME.json",
                                   [](const TruthFiles& f) { return !f.objects.empty(); });
  Evaluation evaluation{.model = engine.name(), .threshold = threshold_of(args)};
  DetectionScore all, chosen;
  int64_t unknown = 0;
  for_each_detection(
      args, engine, files, evaluation.threshold,
      [&](const TruthFiles& picture, const DetectRun& run) {
        std::vector<LabelledBox> truth;
        for (const TrueObject& object : read_true_objects(picture, run.input.picture.size())) {
          truth.push_back({label_index(engine, object.label), object.box});
          if (truth.back().label < 0) {
            truth.back().label = -2 - unknown++;  // a class of its own, which nothing finds
          }
        }
        all.add(boxes_of(found_objects(engine, run.result, run.input.picture.size(), -1)), truth);
        chosen.add(boxes_of(run.objects), truth);
        DetectionScore one({0.5});
        one.add(boxes_of(run.objects), truth);
        const DetectionSummary summary = one.summary();
        evaluation.pictures.push_back(
            {picture.name, summary.objects, summary.found, summary.false_objects});
      });
  evaluation.all = all.summary();
  evaluation.chosen = chosen.summary();
  if (unknown > 0) {
    evaluation.notes.push_back(
        fmt::format("{} true objects have a label that the model does not know", unknown));
  }
  return evaluation;
}

Json to_json(const Evaluation& evaluation) {
  Json json = Json::object();
  json.set("kind", "detections");
  json.set("model", evaluation.model);
  json.set("pictures", evaluation.all.pictures);
  json.set("objects", evaluation.all.objects);
  json.set("ap50", evaluation.ap_at(0.5));
  json.set("ap75", evaluation.ap_at(0.75));
  json.set("ap", evaluation.all.mean_ap);
  json.set("iou_thresholds", Json::array_of(evaluation.all.thresholds));
  json.set("ap_by_threshold", Json::array_of(evaluation.all.ap));
  json.set("score_threshold", evaluation.threshold);
  json.set("found", evaluation.chosen.found);
  json.set("false", evaluation.chosen.false_objects);
  json.set("recall", evaluation.chosen.recall());
  json.set("notes", Json::array_of(evaluation.notes));
  Json pictures = Json::array();
  for (const PictureLine& line : evaluation.pictures) {
    Json entry = Json::object();
    entry.set("picture", line.name);
    entry.set("objects", line.objects);
    entry.set("found", line.found);
    entry.set("false", line.false_objects);
    pictures.push_back(std::move(entry));
  }
  json.set("per_picture", std::move(pictures));
  return json;
}

std::string to_csv(const Evaluation& evaluation) {
  std::string text = "picture,objects,found,false\n";
  for (const PictureLine& line : evaluation.pictures) {
    text += fmt::format("{},{},{},{}\n", csv_field(line.name), line.objects, line.found,
                        line.false_objects);
  }
  return text;
}

std::string to_text(const Evaluation& evaluation, const Engine& engine, const Terminal& terminal) {
  std::string text = terminal.bold(printable(evaluation.model)) +
                     " · boxes against the true ones, average precision as COCO counts it\n";
  text += terminal.dim(fmt::format("{} pictures, {} objects", evaluation.all.pictures,
                                   evaluation.all.objects)) +
          "\n\n";
  const auto line = [&](std::string_view name, double value) {
    text += fmt::format("  {:<10} {:.3f}  {}\n", name, value, bar(value, kBarWidth));
  };
  line("AP50", evaluation.ap_at(0.5));
  line("AP75", evaluation.ap_at(0.75));
  line("AP50-95", evaluation.all.mean_ap);
  text += fmt::format("\nat a score above {:g} and an IoU of 0.5: {} of {} found, {} false\n",
                      evaluation.threshold, evaluation.chosen.found, evaluation.chosen.objects,
                      evaluation.chosen.false_objects);
  for (const std::string& note : evaluation.notes) text += note + "\n";
  const std::string about = model_note(engine);
  return about.empty() ? text : text + about.substr(about.find("a ")) + "\n";
}

void run(const Args& args) {
  threshold_of(args);
  const Engine engine = open_engine(args, kDefaultDetectionModel);
  if (!engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported,
         "{} finds no objects; evaluating detections takes DETR models, {} say", engine.name(),
         kDefaultDetectionModel);
  }
  const Evaluation evaluation = evaluate(args, engine);
  if (args.has("out")) {
    const InterruptGuard guard;
    const bool csv = std::filesystem::path(args["out"]).extension() == ".csv";
    const std::string content = csv ? to_csv(evaluation) : to_json(evaluation).dump(1) + "\n";
    write_file_atomic(args["out"], [&](FileWriter& file) { file.write(content); });
  }
  if (args.flag("json")) return write_stdout(to_json(evaluation).dump(1) + "\n");
  std::string text = to_text(evaluation, engine, stdout_terminal());
  if (args.has("out")) text += "\nwrote " + args["out"] + "\n";
  write_stdout(text);
}

}  // namespace

EvaluationKind detections_evaluation() {
  return {.name = "detections",
          .summary = "boxes of a detector: COCO's average precision and recall",
          .options = {"threshold", "size"},
          .run = run};
}

}  // namespace fovea
