// The encoder's attention of one cell of a picture.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

int64_t cell_asked(const Question& question, const DetectedObjects& found) {
  return cell_at(found.input(), "at", question.place.at.front());
}

Answer answer_cells(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  return cell_answer(question, found, cell_asked(question, found));
}

PageOptions cells_page(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  return detection_page(question, SiteKind::kEncoderSelf, cell_asked(question, found));
}

}  // namespace

QuestionKind cells_question() {
  FieldInfo at = at_field(), column = column_field();
  at.required = true;
  column.help = "who attends to it, not what it attends to";
  column.rules.clear();
  return {.name = "cells",
          .view = "encoder",
          .summary = "what the cell at a pixel attends to, or as a column who attends to it",
          .fields = detection_fields(
              joined_fields({layer_field(), heads_field(), at, column}, picture_drawing_fields())),
          .verbs = {"detect"},
          .only_of = SiteKind::kEncoderSelf,
          .check = check_finds_objects,
          .check_input = check_spots,
          .needs = detection_needs,
          .answer = answer_cells,
          .page = cells_page};
}

}  // namespace fovea
