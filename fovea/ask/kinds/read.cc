// The text itself, shaded by what one token attends to, or by who attends to it.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

// The numbers of a long text are all of it, where no part is asked for; the figure shows what is
// around the token.
Answer answer_read(const Question& question, const FinishedRun& run) {
  ViewChoice choice = view_choice(question);
  const HeadChoice head = single_map(choice.head, *chosen_record(run.run(), choice));
  Answer answer = map_answer(read_view(run.run(), choice), question, run, head);
  if (!choice.rows && !choice.cols && !choice.around) {
    choice.exact = true;
    answer.numbers = data_of(read_view(run.run(), choice));
  }
  return answer;
}

}  // namespace

QuestionKind read_question() {
  return {.name = "read",
          .summary = "the text, shaded by what one token attends to",
          .fields = joined_fields(
              {site_field(), layer_field(), head_field(), token_field(), column_field(),
               words_field(), of_field(), scale_field(), range_field()},
              part_fields()),
          .verbs = {"text", "translate", "open"},
          .answer = answer_read};
}

}  // namespace fovea
