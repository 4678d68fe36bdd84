#include "fovea/ask/detection_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/map_answer.h"
#include "fovea/base/error.h"
#include "fovea/engine/classes.h"
#include "fovea/engine/detections.h"

namespace fovea {
namespace {

constexpr double kUsualThreshold = 0.7;

// The objects go among the outputs; beside the kind's own result stands how large the picture is,
// in whose pixels boxes are.
void add_found(Answer& answer, const DetectedObjects& found) {
  Json objects = objects_json(found.scene());
  answer.facts.set("outputs", Json::object({{"threshold", found.threshold()},
                                            {"objects", objects.at("objects", "the objects")}}));
  const Json* given = answer.facts.find("result");
  Json result = given != nullptr ? *given : Json::object();
  result.set("picture", objects.at("picture", "the objects"));
  answer.facts.set("result", std::move(result));
}

}  // namespace

std::vector<DetectedObject> found_objects(const Engine& engine, const RunResult& result,
                                          PictureSize picture, double threshold) {
  const std::vector<std::string> labels = engine.labels();
  std::vector<DetectedObject> objects;
  for (const Detection& found : detections(result, picture, threshold)) {
    objects.push_back({.query = found.query,
                       .label = found.label,
                       .name = class_name(labels, found.label),
                       .score = found.score,
                       .box = {found.box.left, found.box.top, found.box.right, found.box.bottom}});
  }
  std::ranges::stable_sort(objects, std::ranges::greater{}, &DetectedObject::score);
  for (size_t i = 0; i < objects.size(); ++i) objects[i].number = static_cast<int64_t>(i) + 1;
  return objects;
}

DetectedObjects::DetectedObjects(const FinishedRun& finished, double threshold)
    : finished_(&finished), threshold_(threshold) {
  if (!finished.opened || !finished.opened->picture) {
    fail(ErrorKind::kUnsupported,
         "objects are told of a picture and the model that sees it; neither a captured run nor "
         "pixel values have both");
  }
  objects_ = found_objects(engine(), result(), picture(), threshold_);
}

DetectedObjects::DetectedObjects(const FinishedRun& finished, const Question& question)
    : DetectedObjects(finished, threshold_of(question)) {}

RecordPointer DetectedObjects::record(SiteKind kind, std::optional<int64_t> layer) const {
  return chosen_record(finished_->run(), {.kind = kind, .layer = layer});
}

std::vector<FieldInfo> detection_fields(std::vector<FieldInfo> own) {
  own.push_back({.name = "threshold",
                 .shown = "P",
                 .help = "objects with a score above this",
                 .type = FieldType::kReal,
                 .low = 0,
                 .high = 1,
                 .otherwise = fmt::format("{}", kUsualThreshold)});
  return own;
}

double threshold_of(const Question& question) {
  return question.number("threshold").value_or(kUsualThreshold);
}

void check_finds_objects(const Engine& engine) {
  if (engine.facts().finds_objects()) return;
  fail(ErrorKind::kUnsupported, "{} finds no objects; take a DETR model, scenes-detr say",
       engine.name());
}

RunNeeds detection_needs(const Question&, const OpenedInput&) {
  return {.all_logits = true};
}

int64_t cell_at(const PictureInput& input, std::string_view field, PictureSpot spot) {
  const auto cell = input.grid.patch_of_pixel(spot.x, spot.y);
  if (cell) return *cell;
  fail(ErrorKind::kInvalidArgument, Field{field},
       "{},{} is outside of the picture, which has {} x {} pixels, counted from 0", spot.x, spot.y,
       input.picture.width, input.picture.height);
}

void check_spots(const Question& question, const OpenedInput& opened) {
  if (!opened.picture) return;
  for (const PictureSpot spot : question.place.at) cell_at(*opened.picture, "at", spot);
}

Answer detection_answer(Figure figure, const DetectedObjects& found) {
  Answer answer{.figure = std::move(figure)};
  add_found(answer, found);
  return answer;
}

Answer detection_answer(Figure figure, const Question& question, const DetectedObjects& found,
                        const RecordPointer& record, const HeadChoice& head) {
  Question placed = question;
  placed.place.site = record->site.kind;
  placed.place.layer = record->site.layer;
  Answer answer = map_answer(std::move(figure), placed, found.finished(), head);
  add_found(answer, found);
  return answer;
}

Answer lines_answer(LineMaps maps, const Question& question, const DetectedObjects& found,
                    const RecordPointer& record, const HeadChoice& head) {
  maps.figure.smooth = question.flag("smooth");
  std::optional<MapData> numbers;
  if (question.fields.find("of") == nullptr) {
    const GridShape grid = found.grid();
    numbers = patch_numbers(maps.figure, maps.weights, grid.rows, grid.cols);
  }
  Answer answer = detection_answer(std::move(maps.figure), question, found, record, head);
  answer.numbers = std::move(numbers);
  Json result = answer.facts.at("result", "an answer");
  result.set("query", maps.query);
  result.set("sums", Json::array_of(maps.sums));
  if (maps.column) {
    std::vector<double> times;
    for (const double sum : maps.sums) times.push_back(sum / maps.uniform);
    result.set("times_uniform", Json::array_of(times));
  }
  answer.facts.set("result", std::move(result));
  return answer;
}

Answer cell_answer(const Question& question, const DetectedObjects& found, int64_t cell) {
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, question.place.layer);
  const HeadChoice head = question.place.head.value_or(HeadChoice{});
  return lines_answer(cell_maps(found.scene(), record, head, cell, question.place.column,
                                picture_drawing(view_choice(question))),
                      question, found, record, head);
}

Answer no_object_answer(const Question& question, const DetectedObjects& found) {
  const GridShape grid = found.grid();
  Answer answer = cell_answer(question, found, grid.rows / 2 * grid.cols + grid.cols / 2);
  answer.notes.push_back(no_object_note(found, "the encoder's attention is given"));
  return answer;
}

std::string no_object_note(const DetectedObjects& found, std::string_view instead) {
  return fmt::format("no object has a score above {:g}; {} instead", found.threshold(), instead);
}

PageOptions detection_page(const Question& question, SiteKind site, std::optional<int64_t> index) {
  PageOptions page{.choice = view_choice(question)};
  page.choice.kind = site;
  if (index) page.choice.token = fmt::format("#{}", *index);
  page.choice.column &= index.has_value();
  return page;
}

}  // namespace fovea
