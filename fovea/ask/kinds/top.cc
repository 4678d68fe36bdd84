// The largest weights of every row, or of one row or column, as lists with names.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/top_answer.h"

namespace fovea {

QuestionKind top_question() {
  return {.name = "top",
          .summary = "the largest weights of every row, or of one token, as lists",
          .fields = joined_fields({site_field(), layer_field(), head_field(), token_field(),
                                   column_field(), words_field(), top_field(), exact_field()},
                                  part_fields()),
          .verbs = {"text", "translate", "open"},
          .has_maps = false,
          .has_page = false,
          .answer = [](const Question& question, const FinishedRun& run) {
            return top_answer(view_choice(question), question, run);
          }};
}

}  // namespace fovea
