// One map: a head, or the mean, maximum or minimum of all.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

Answer answer_matrix(const Question& question, const FinishedRun& run) {
  const ViewChoice choice = view_choice(question);
  const HeadChoice head = single_map(choice.head, *chosen_record(run.run(), choice));
  return map_answer(matrix_view(run.run(), choice), question, run, head);
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
