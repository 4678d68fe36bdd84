// Methods that explain, side by side: how far each can be believed, on one input or many.
#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/explanation_place.h"
#include "fovea/ask/many/method_grades.h"
#include "fovea/ask/question_kind.h"

namespace fovea {

QuestionKind compare_question() {
  return {.name = "compare",
          .summary = "how far methods that explain can be believed, graded on the same inputs",
          .fields = comparison_fields(),
          .verbs = {"explain"},
          .has_maps = false,
          .has_page = false,
          .site = explained_site,
          .counter = grade_counter,
          .finish = grades_answer,
          .doing = "comparing"};
}

}  // namespace fovea
