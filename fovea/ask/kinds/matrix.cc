// One map: a head, or the mean, maximum or minimum of all.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

Answer answer_matrix(const Question& question, const FinishedRun& run) {
  const ViewChoice choice = view_choice(question);
  const RecordPointer record = chosen_record(run.run(), choice);
  MatrixFigure figure = matrix_view(run.run(), choice);
  if (figure.overview && figure.overview->path) {
    auto picture = picture_below(run, *run.run().find_axis(record->row_axis));
    if (picture) figure.overview->path->picture = *std::move(picture);
  }
  return map_answer(std::move(figure), question, run, single_map(choice.head, *record));
}

}  // namespace

QuestionKind matrix_question() {
  return {.name = "matrix",
          .summary = "one map, rows attending to columns",
          .fields = joined_fields({site_field(), layer_field(), head_field(), token_field(),
                                   column_field(), words_field(), exact_field(), of_field(),
                                   scale_field(), range_field(), pool_field(), needles_field()},
                                  joined_fields(hiding_fields(), part_fields())),
          .verbs = {"text", "translate", "open"},
          .answer = answer_matrix};
}

}  // namespace fovea
