// Attention between a detector's object queries.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/detection_matrix.h"

namespace fovea {
namespace {

Answer answer_between(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  const RecordPointer record = found.record(SiteKind::kDecoderSelf, question.place.layer);
  const HeadChoice asked = question.place.head.value_or(HeadChoice{HeadChoice::Kind::kMean});
  const MapDrawing drawing = map_drawing(view_choice(question), 1);
  const bool several =
      asked.kind == HeadChoice::Kind::kAll || asked.kind == HeadChoice::Kind::kSome;
  Answer answer =
      several ? detection_answer(between_heads_figure(found.scene(), record, asked, drawing),
                                 question, found, record, asked)
              : detection_answer(between_figure(found.scene(), record, asked, drawing), question,
                                 found, record, asked);
  if (found.objects().empty()) {
    answer.notes.push_back(no_object_note(found, "attention between all queries is given"));
  }
  return answer;
}

}  // namespace

QuestionKind between_question() {
  return {
      .name = "between",
      .summary = "attention between the queries of the objects, as a matrix",
      .fields = detection_fields(joined_fields({layer_field(), heads_field()}, drawing_fields())),
      .verbs = {"detect"},
      .only_of = SiteKind::kDecoderSelf,
      .check = check_finds_objects,
      .needs = detection_needs,
      .answer = answer_between,
      .page = [](const Question& question, const FinishedRun&) {
        return detection_page(question, SiteKind::kDecoderSelf);
      }};
}

}  // namespace fovea
