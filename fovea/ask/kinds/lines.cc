// Two columns of tokens, joined by lines as strong as the weights.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

Answer answer_lines(const Question& question, const FinishedRun& run) {
  const ViewChoice choice = view_choice(question);
  return map_answer(lines_view(run.run(), choice), question, run, choice.head);
}

}  // namespace

QuestionKind lines_question() {
  return {.name = "lines",
          .summary = "tokens joined by lines, one panel for each head",
          .fields = joined_fields({site_field(), layer_field(), heads_field(), token_field(),
                                   column_field(), words_field()},
                                  joined_fields(drawing_fields(), part_fields())),
          .verbs = {"text", "translate", "open"},
          .has_page = false,
          .answer = answer_lines};
}

}  // namespace fovea
