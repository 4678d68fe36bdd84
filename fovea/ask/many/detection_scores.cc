#include "fovea/ask/many/detection_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/many/picture_scores.h"
#include "fovea/ask/session.h"
#include "fovea/base/utf8.h"
#include "fovea/explain/pictures/detection_score.h"

namespace fovea {
namespace {

// What is kept of a picture: how many true objects, each with label and box; then of each model how
// many were found at any score, each with label, score and box.
struct PictureDetections {
  std::vector<LabelledBox> truth;
  std::vector<std::vector<ScoredBox>> found;  // [model]
};

void add_box(std::vector<double>& numbers, const PictureBox& box) {
  numbers.insert(numbers.end(), {box.left, box.top, box.right, box.bottom});
}

std::vector<double> detection_numbers(const PictureDetections& picture) {
  std::vector<double> numbers{static_cast<double>(picture.truth.size())};
  for (const LabelledBox& object : picture.truth) {
    numbers.push_back(static_cast<double>(object.label));
    add_box(numbers, object.box);
  }
  for (const std::vector<ScoredBox>& boxes : picture.found) {
    numbers.push_back(static_cast<double>(boxes.size()));
    for (const ScoredBox& box : boxes) {
      numbers.push_back(static_cast<double>(box.label));
      numbers.push_back(box.score);
      add_box(numbers, box.box);
    }
  }
  return numbers;
}

PictureDetections detections_of(const std::vector<double>& numbers) {
  size_t at = 0;
  const auto next = [&] { return numbers.at(at++); };
  const auto whole = [&] { return static_cast<int64_t>(next()); };
  const auto box = [&] {
    PictureBox result;
    for (double* side : {&result.left, &result.top, &result.right, &result.bottom}) *side = next();
    return result;
  };
  PictureDetections picture;
  for (int64_t count = whole(); count > 0; --count) {
    const int64_t label = whole();
    picture.truth.push_back({label, box()});
  }
  while (at < numbers.size()) {
    std::vector<ScoredBox>& boxes = picture.found.emplace_back();
    for (int64_t count = whole(); count > 0; --count) {
      const int64_t label = whole();
      const double score = next();
      boxes.push_back({label, score, box()});
    }
  }
  return picture;
}

std::vector<ScoredBox> boxes_of(const std::vector<DetectedObject>& objects) {
  std::vector<ScoredBox> boxes;
  for (const DetectedObject& object : objects) {
    boxes.push_back({object.label, object.score, object.box});
  }
  return boxes;
}

std::vector<LabelledBox> labelled(const std::vector<TrueObject>& objects, const Engine& engine) {
  std::vector<LabelledBox> boxes;
  for (const TrueObject& object : objects) {
    boxes.push_back({label_index(engine, object.label), object.box});
  }
  return boxes;
}

class DetectionCounter : public Counter {
 public:
  explicit DetectionCounter(const ManyAsked& asked) : engines_(scored_engines(asked)) {}

  void count(InputQueue& inputs, ManyState& state) override {
    count_one(inputs, state, [&](const InputQueue::Item& item, const Sample& sample) {
      if (!sample.truth.objects) fail(ErrorKind::kBadFile, "nothing is said of its objects");
      PictureDetections picture{.truth = labelled(*sample.truth.objects, engines_.front())};
      for (const Engine& engine : engines_) {
        const Session session = Session::open(engine, sample.input, {.values = false});
        const DetectedObjects all(*session.run({.all_logits = true}), -1);
        picture.found.push_back(boxes_of(all.objects()));
      }
      return [row = ManyState::Row{item.number, item.name, detection_numbers(picture)}](
                 ManyState& to) { to.rows.push_back(row); };
    });
  }

 private:
  std::vector<Engine> engines_;
};

struct PictureLine {
  std::string name;
  int64_t objects = 0;
  int64_t found = 0;  // at an IoU of 0.5 and a score above the threshold
  int64_t false_objects = 0;
};

// Of one model.
struct DetectionScores {
  double threshold = 0;
  DetectionSummary all;     // of every query, as average precision wants it
  DetectionSummary chosen;  // with a score above the threshold
  std::vector<PictureLine> pictures;
  int64_t unknown = 0;  // true objects with a label that the model does not know

  double ap_at(double threshold_of_iou) const {
    for (size_t i = 0; i < all.thresholds.size(); ++i) {
      if (std::abs(all.thresholds[i] - threshold_of_iou) < 1e-9) return all.ap[i];
    }
    return 0;
  }
};

DetectionScores scores_of(const ManyState& state, size_t model, double threshold) {
  DetectionScores scores{.threshold = threshold};
  DetectionScore all, chosen;
  for (const ManyState::Row& row : state.rows) {
    PictureDetections picture = detections_of(row.numbers);
    for (LabelledBox& object : picture.truth) {
      // A class of its own, which nothing finds.
      if (object.label < 0) object.label = -2 - scores.unknown++;
    }
    std::vector<ScoredBox> boxes = picture.found.at(model);
    all.add(boxes, picture.truth);
    std::erase_if(boxes, [&](const ScoredBox& box) { return !(box.score > threshold); });
    chosen.add(boxes, picture.truth);
    DetectionScore one({0.5});
    one.add(boxes, picture.truth);
    const DetectionSummary summary = one.summary();
    scores.pictures.push_back({row.name, summary.objects, summary.found, summary.false_objects});
  }
  scores.all = all.summary();
  scores.chosen = chosen.summary();
  return scores;
}

void set_detection_scores(Json& json, const DetectionScores& scores) {
  json.set("ap50", scores.ap_at(0.5));
  json.set("ap75", scores.ap_at(0.75));
  json.set("ap", scores.all.mean_ap);
  json.set("iou_thresholds", Json::array_of(scores.all.thresholds));
  json.set("ap_by_threshold", Json::array_of(scores.all.ap));
  json.set("score_threshold", scores.threshold);
  json.set("found", scores.chosen.found);
  json.set("false", scores.chosen.false_objects);
  json.set("recall", scores.chosen.recall());
}

// The model's own first, then that of random weights where it is asked for.
void set_all_scores(Json& json, const std::vector<DetectionScores>& models,
                    const std::vector<std::string>& notes) {
  json.set("pictures", models.front().all.pictures);
  json.set("objects", models.front().all.objects);
  set_detection_scores(json, models.front());
  if (models.size() > 1) {
    Json random = Json::object();
    set_detection_scores(random, models[1]);
    json.set("random_weights", std::move(random));
  }
  json.set("notes", Json::array_of(notes));
}

std::string found_text(const DetectionScores& scores) {
  return fmt::format("{} of {} found, {} false", scores.chosen.found, scores.chosen.objects,
                     scores.chosen.false_objects);
}

TableFigure detection_table(const ManyAsked& asked, const std::vector<DetectionScores>& models,
                            const std::vector<std::string>& notes) {
  const DetectionScores& own = models.front();
  const bool random = models.size() > 1;
  TableFigure table{.columns = {{.name = random ? "trained" : ""}}};
  if (random) table.columns.push_back({.name = "random weights"});
  table.text.metadata = Json::object({{"kind", "detections"}, {"model", asked.engine.name()}});
  set_all_scores(table.text.metadata, models, notes);
  table.text.title =
      asked.engine.name() + " · boxes against the true ones, average precision as COCO counts it";
  table.text.caption = fmt::format("{} pictures, {} objects", own.all.pictures, own.all.objects);
  const auto add = [&](std::string name, const auto& value) {
    table.rows.push_back({.label = std::move(name), .cells = {}});
    for (const DetectionScores& model : models) {
      table.rows.back().cells.push_back({.text = fmt::format("{:.3f}", value(model))});
    }
    table.rows.back().cells.front().share = value(own);
  };
  add("AP50", [](const DetectionScores& each) { return each.ap_at(0.5); });
  add("AP75", [](const DetectionScores& each) { return each.ap_at(0.75); });
  add("AP50-95", [](const DetectionScores& each) { return each.all.mean_ap; });
  table.notes = {fmt::format("at a score above {:g} and an IoU of 0.5: {}{}", own.threshold,
                             found_text(own),
                             random ? "; with random weights " + found_text(models[1]) : "")};
  table.notes.insert(table.notes.end(), notes.begin(), notes.end());
  const std::string about = to_one_line(asked.engine.checkpoint().note);
  if (!about.empty()) table.notes.push_back(about);
  return table;
}

}  // namespace

int64_t label_index(const Engine& engine, const std::string& name) {
  const std::vector<std::string> labels = engine.labels();
  const auto found = std::ranges::find(labels, name);
  return found == labels.end() ? -1 : found - labels.begin();
}

std::unique_ptr<Counter> detection_counter(const ManyAsked& asked) {
  return std::make_unique<DetectionCounter>(asked);
}

Answer detection_scores_answer(const ManyAsked& asked, const ManyState& state) {
  std::vector<DetectionScores> models;
  for (size_t model = 0; model < (asked.question.flag("baseline") ? 2 : 1); ++model) {
    models.push_back(scores_of(state, model, threshold_of(asked.question)));
  }
  std::vector<std::string> notes;
  if (models.front().unknown > 0) {
    notes.push_back(fmt::format("{} true objects have a label that the model does not know",
                                models.front().unknown));
  }
  Answer answer{.figure = detection_table(asked, models, notes)};
  answer.records = Records{.columns = {"picture", "objects", "found", "false"}, .rows = {}};
  for (const PictureLine& line : models.front().pictures) {
    answer.records->rows.push_back({line.name, line.objects, line.found, line.false_objects});
  }
  Json result = Json::object();
  set_all_scores(result, models, notes);
  result.set("per_picture", objects_of(*answer.records));
  answer.facts = Json::object({{"result", std::move(result)}});
  return answer;
}

}  // namespace fovea
