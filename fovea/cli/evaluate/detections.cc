// Boxes of a detector against true boxes: COCO's average precision.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/evaluate/folder.h"
#include "fovea/cli/evaluate/kind.h"
#include "fovea/cli/evaluate/objects.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/show.h"
#include "fovea/explain/pictures/detection_score.h"

namespace fovea {
namespace {

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
      [&](const TruthFiles& picture, const DetectedObjects& found) {
        std::vector<LabelledBox> truth;
        for (const TrueObject& object : read_true_objects(picture, found.picture())) {
          truth.push_back({label_index(engine, object.label), object.box});
          if (truth.back().label < 0) {
            truth.back().label = -2 - unknown++;  // a class of its own, which nothing finds
          }
        }
        all.add(boxes_of(found_objects(engine, found.result(), found.picture(), -1)), truth);
        chosen.add(boxes_of(found.objects()), truth);
        DetectionScore one({0.5});
        one.add(boxes_of(found.objects()), truth);
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

// Of the trained model and, if that was asked for, of the same with random weights.
struct Evaluations {
  Evaluation trained;
  std::optional<Evaluation> random;
};

void set_scores(Json& json, const Evaluation& evaluation) {
  json.set("ap50", evaluation.ap_at(0.5));
  json.set("ap75", evaluation.ap_at(0.75));
  json.set("ap", evaluation.all.mean_ap);
  json.set("iou_thresholds", Json::array_of(evaluation.all.thresholds));
  json.set("ap_by_threshold", Json::array_of(evaluation.all.ap));
  json.set("score_threshold", evaluation.threshold);
  json.set("found", evaluation.chosen.found);
  json.set("false", evaluation.chosen.false_objects);
  json.set("recall", evaluation.chosen.recall());
}

Json evaluations_json(const Evaluations& evaluations) {
  const Evaluation& evaluation = evaluations.trained;
  Json json = Json::object({{"kind", "detections"},
                            {"model", evaluation.model},
                            {"pictures", evaluation.all.pictures},
                            {"objects", evaluation.all.objects}});
  set_scores(json, evaluation);
  if (evaluations.random) {
    Json random = Json::object();
    set_scores(random, *evaluations.random);
    json.set("random_weights", std::move(random));
  }
  json.set("notes", Json::array_of(evaluation.notes));
  return json;
}

Json evaluations_with_pictures(const Evaluations& evaluations) {
  Json json = evaluations_json(evaluations);
  Json pictures = Json::array();
  for (const PictureLine& line : evaluations.trained.pictures) {
    pictures.push_back(Json::object({{"picture", line.name},
                                     {"objects", line.objects},
                                     {"found", line.found},
                                     {"false", line.false_objects}}));
  }
  json.set("per_picture", std::move(pictures));
  return json;
}

std::string evaluations_csv(const Evaluation& evaluation) {
  std::string text = "picture,objects,found,false\n";
  for (const PictureLine& line : evaluation.pictures) {
    text += fmt::format("{},{},{},{}\n", csv_text(line.name), line.objects, line.found,
                        line.false_objects);
  }
  return text;
}

std::string found_text(const Evaluation& evaluation) {
  return fmt::format("{} of {} found, {} false", evaluation.chosen.found, evaluation.chosen.objects,
                     evaluation.chosen.false_objects);
}

TableFigure evaluations_table(const Evaluations& evaluations, const Engine& engine) {
  const Evaluation& own = evaluations.trained;
  const std::optional<Evaluation>& random = evaluations.random;
  TableFigure table{.columns = {{.name = random ? "trained" : ""}}};
  if (random) table.columns.push_back({.name = "random weights"});
  table.text.metadata = evaluations_json(evaluations);
  table.text.title =
      own.model + " · boxes against the true ones, average precision as COCO counts it";
  table.text.caption = fmt::format("{} pictures, {} objects", own.all.pictures, own.all.objects);
  const auto add = [&](std::string name, const auto& value) {
    table.rows.push_back(
        {.label = std::move(name),
         .cells = {{.text = fmt::format("{:.3f}", value(own)), .share = value(own)}}});
    if (random) table.rows.back().cells.push_back({.text = fmt::format("{:.3f}", value(*random))});
  };
  add("AP50", [](const Evaluation& each) { return each.ap_at(0.5); });
  add("AP75", [](const Evaluation& each) { return each.ap_at(0.75); });
  add("AP50-95", [](const Evaluation& each) { return each.all.mean_ap; });
  table.notes = {fmt::format("at a score above {:g} and an IoU of 0.5: {}{}", own.threshold,
                             found_text(own),
                             random ? "; with random weights " + found_text(*random) : "")};
  table.notes.insert(table.notes.end(), own.notes.begin(), own.notes.end());
  const std::string about = to_one_line(engine.checkpoint().note);
  if (!about.empty()) table.notes.push_back(about);
  return table;
}

void evaluate_detections(const Args& args) {
  threshold_of(args);
  const Engine engine = open_engine(args, kDefaultDetectionModel);
  if (!engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported,
         "{} finds no objects; evaluating detections takes DETR models, {} say", engine.name(),
         kDefaultDetectionModel);
  }
  evaluation_options(args, engine);  // refuses what does not go together
  Evaluations evaluations{.trained = evaluate(args, engine)};
  if (args.flag("baseline")) {
    const int64_t seed = args.has("seed") ? args.integer("seed") : 0;
    evaluations.random = evaluate(args, engine.with_random_weights(static_cast<uint64_t>(seed)));
  }
  show({.figure = evaluations_table(evaluations, engine),
        .json = [evaluations] { return evaluations_with_pictures(evaluations); },
        .csv = [evaluations] { return evaluations_csv(evaluations.trained); }},
       args);
}

}  // namespace

EvaluationKind detections_evaluation() {
  return {.name = "detections",
          .summary = "boxes of a detector: COCO's average precision and recall",
          .options = {"threshold", "size", "baseline", "seed"},
          .run = evaluate_detections};
}

}  // namespace fovea
