// Cross-attention of a detector's object queries, over the picture.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

Answer answer_queries(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  const Place& place = question.place;
  if (!place.query && found.objects().empty()) return no_object_answer(question, found);
  const RecordPointer record = found.record(SiteKind::kCross, place.layer);
  HeadChoice head = place.head.value_or(HeadChoice{});
  if (!place.query) head = single_map(head, *record);  // a map for each object
  const MapDrawing drawing = picture_drawing(view_choice(question));
  return lines_answer(query_maps(found.scene(), record, head, place.query, drawing), question,
                      found, record, head);
}

}  // namespace

QuestionKind queries_question() {
  FieldInfo head = heads_field();
  head.rules = {{.needs = "query", .why = "shows one query in every head", .at = "all"}};
  return {.name = "queries",
          .summary = "what the query of each object attends to, or one query in every head",
          .fields = detection_fields(
              joined_fields({layer_field(), head, query_field()}, picture_drawing_fields())),
          .verbs = {"detect"},
          .only_of = SiteKind::kCross,
          .check = check_finds_objects,
          .needs = detection_needs,
          .answer = answer_queries,
          .page = [](const Question& question, const FinishedRun&) {
            return detection_page(question, SiteKind::kCross, question.place.query);
          }};
}

}  // namespace fovea
