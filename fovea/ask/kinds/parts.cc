// The whole map of a picture: what each part of it attends to, at the part's place.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/figure/parts_view.h"

namespace fovea {
namespace {

Answer answer_parts(const Question& question, const FinishedRun& run) {
  const ViewChoice choice = view_choice(question);
  const RecordPointer record = parts_record(run.run(), choice);
  std::optional<Picture> picture = picture_below(run, *run.run().find_axis(record->row_axis));
  if (!picture) {
    fail(ErrorKind::kNotFound,
         "the run holds no picture; capture it from a picture file instead of pixel_values");
  }
  Question placed = question;
  placed.place.site = record->site.kind;
  return map_answer(parts_figure(run.run(), choice, *std::move(picture)), placed, run,
                    single_map(choice.head, *record));
}

}  // namespace

QuestionKind parts_question() {
  FieldInfo column = column_field();
  column.help = "who attends to a part, not what it attends to";
  column.rules.clear();  // every part is shown
  FieldInfo of = of_field();
  of.otherwise = "times-even";
  return {.name = "parts",
          .summary = "the picture in 8 x 8 parts, and at the place of each what it attends to",
          .fields = {layer_field(), head_field(), column, exact_field(), of, scale_field(),
                     range_field()},
          .verbs = {"detect", "image", "open"},
          .has_page = false,
          .answer = answer_parts};
}

}  // namespace fovea
