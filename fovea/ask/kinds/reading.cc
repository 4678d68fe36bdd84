// A text read word by word: a line for each, shaded by what it attends to.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

// The numbers of a reading are its matrix, which may have more rows than a reading has lines.
Answer answer_reading(const Question& question, const FinishedRun& run) {
  ViewChoice choice = view_choice(question);
  const HeadChoice head = single_map(choice.head, *chosen_record(run.run(), choice));
  if (choice.exact) return map_answer(matrix_view(run.run(), choice), question, run, head);
  Answer answer = map_answer(reading_view(run.run(), choice), question, run, head);
  choice.exact = true;
  answer.numbers = data_of(matrix_view(run.run(), choice));
  return answer;
}

}  // namespace

QuestionKind reading_question() {
  return {.name = "reading",
          .summary = "every word in turn, and what it attends to",
          .fields = joined_fields(
              {site_field(), layer_field(), head_field(), words_field(), exact_field()},
              drawing_fields()),
          .verbs = {"text", "translate", "open"},
          .has_page = false,
          .answer = answer_reading};
}

}  // namespace fovea
