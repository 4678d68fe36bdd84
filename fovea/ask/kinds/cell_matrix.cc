// The encoder's map of every cell with every cell, as a whole or a part of it.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

// Refuses a part that there is not before the model runs.
void check_range(const std::optional<AxisPart>& part, std::string_view field, int64_t cells) {
  if (!part) return;
  const int64_t begin = part->begin.value_or(0), end = part->end.value_or(cells);
  if (end <= cells && begin < end) return;
  fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} is beyond the map, which has {} cells",
       begin, end, cells);
}

void check_asked_part(const Question& question, const OpenedInput& opened) {
  if (!opened.picture) return;
  const ViewChoice choice = view_choice(question);
  check_range(choice.rows, "rows", opened.picture->grid.patches());
  check_range(choice.cols, "cols", opened.picture->grid.patches());
}

Answer answer_cell_matrix(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  ViewChoice choice = view_choice(question);
  choice.kind = SiteKind::kEncoderSelf;
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, choice.layer);
  MatrixFigure figure = matrix_view(run.run(), choice);
  figure.text.caption += model_note(run.run());
  if (figure.overview && figure.overview->path) {
    figure.overview->path->picture = *picture_below(run, *run.run().find_axis(record->row_axis));
  }
  return detection_answer(std::move(figure), question, found, record,
                          single_map(choice.head, *record));
}

}  // namespace

QuestionKind cell_matrix_question() {
  return {.name = "cell_matrix",
          .view = "matrix",
          .summary = "the encoder's whole map, pooled to fit, or a part of its rows and columns",
          .fields = detection_fields(
              joined_fields({layer_field(), head_field(), exact_field(), of_field(), scale_field(),
                             range_field(), pool_field()},
                            part_fields())),
          .verbs = {"detect"},
          .only_of = SiteKind::kEncoderSelf,
          .check = check_finds_objects,
          .check_input = check_asked_part,
          .needs = detection_needs,
          .answer = answer_cell_matrix,
          .page = [](const Question& question, const FinishedRun&) {
            return detection_page(question, SiteKind::kEncoderSelf);
          }};
}

}  // namespace fovea
