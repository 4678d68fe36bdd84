// Shows heads as small maps side by side: all heads of a layer, some of them, or every layer's.
#include "fovea/ask/head_kinds.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

Answer answer_heads(const Question& question, const FinishedRun& run) {
  const ViewChoice choice = view_choice(question);
  HeadsFigure figure = heads_view(run.run(), choice);
  if (figure.overview) name_head_kinds(figure, run.run(), choice);
  return map_answer(std::move(figure), question, run, choice.head);
}

}  // namespace

QuestionKind heads_question() {
  const FieldInfo all_heads{.name = "head",
                            .shown = "N,N..|all",
                            .help = "all heads are shown; matrix shows one",
                            .type = FieldType::kChoice,
                            .words = {"all"},
                            .otherwise = "all",
                            .or_list = true};
  return {.name = "heads",
          .summary = "all heads of a layer side by side",
          .fields = joined_fields(
              {site_field(), layer_field(/*all_layers=*/true), all_heads, words_field(),
               exact_field(), of_field(), scale_field(), range_field(), pool_field()},
              joined_fields(hiding_fields(), part_fields())),
          .verbs = {"text", "translate", "open"},
          .answer = answer_heads};
}

}  // namespace fovea
