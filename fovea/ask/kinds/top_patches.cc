// The largest weights of a row or column of a picture's map, as lists with names.
#include <fmt/format.h>

#include "fovea/ask/map_answer.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/top_answer.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {
namespace {

// The row of `maps`, unless a part of the rows is asked for.
Answer answer_top_patches(const Question& question, const FinishedRun& run) {
  ViewChoice choice = view_choice(question);
  choice.kind = picture_kind(run.run());
  const PictureChoice chosen = picture_choice(question, run);
  const Axis& axis = picture_axis(run.run());
  const int64_t front = PictureAxis::of(axis).specials;
  const bool rows = choice.rows || choice.around;
  if (chosen.patch) {
    choice.token = fmt::format("#{}", front + *chosen.patch);
  } else if (chosen.token) {
    choice.token = fmt::format("#{}", front_token_named(axis, *chosen.token));
  } else if ((front > 0 && !rows) || choice.column) {
    choice.token = "#0";
  }
  return top_answer(choice, question, run);
}

}  // namespace

QuestionKind top_patches_question() {
  FieldInfo column = column_field();
  column.help = "who attends to it, not what it attends to";
  column.rules.clear();  // [CLS] is looked at without a token
  return about_picture(
      {.name = "top_patches",
       .view = "top",
       .summary = "the largest weights of one position, or of a part of the rows, as lists",
       .fields = joined_fields({layer_field(), head_field(), patch_field(/*beside_token=*/true),
                                front_token_field(), column, top_field(), exact_field()},
                               part_fields()),
       .has_maps = false,
       .answer = answer_top_patches});
}

}  // namespace fovea
