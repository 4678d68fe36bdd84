// The objects that a model found: boxes with labels and scores.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

MapData boxes_data(const std::vector<DetectedObject>& objects, const FigureText& text) {
  MapData data{.rows = {.name = "objects"}, .cols = {.name = "box and score"}, .text = text};
  for (const char* name : {"left", "top", "right", "bottom", "score", "query"}) {
    data.cols.positions.push_back({.text = name});
  }
  data.weights = Tensor({static_cast<int64_t>(objects.size()), int64_t{6}});
  float* out = data.weights.mutable_values<float>().data();
  for (const DetectedObject& object : objects) {
    data.rows.positions.push_back({.text = object.name});
    for (const double value : {object.box.left, object.box.top, object.box.right, object.box.bottom,
                               object.score, double(object.query)}) {
      *out++ = static_cast<float>(value);
    }
  }
  return data;
}

Answer answer_objects(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  if (found.objects().empty()) return no_object_answer(question, found);
  ImageFigure figure = objects_figure(found.scene());
  const FigureText text = figure.text;
  Answer answer = detection_answer(std::move(figure), found);
  answer.numbers_apart = [objects = found.objects(), text] { return boxes_data(objects, text); };
  return answer;
}

}  // namespace

QuestionKind objects_question() {
  return {.name = "objects",
          .summary = "boxes with labels and scores",
          .fields = detection_fields({}),
          .verbs = {"detect"},
          .check = check_finds_objects,
          .needs = detection_needs,
          .answer = answer_objects,
          .page = [](const Question&, const FinishedRun&) { return PageOptions{}; }};
}

}  // namespace fovea
