#include "fovea/ask/explanation_answer.h"
#include "fovea/ask/explanation_check.h"
#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/explanation_place.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

Answer answer_explain(const Question& question, const FinishedRun& run) {
  const AskedExplanation asked = asked_explanation(question, run);
  const Explanation explanation = explained(asked);
  if (!question.flag("check")) return explanation_answer(asked, explanation, nullptr);
  const FaithfulnessCard card = ExplanationChecker(question, kOrdersOfOne).card(asked, explanation);
  return explanation_answer(asked, explanation, &card);
}

}  // namespace

QuestionKind explain_question() {
  return {.name = "explain",
          .summary = "what an answer of the model comes from, by a method of choice",
          .fields = explanation_fields(),
          .verbs = {"explain"},
          .has_page = false,
          .site = explained_site,
          .check_input = check_explanation,
          .needs = explanation_needs,
          .answer = answer_explain};
}

}  // namespace fovea
