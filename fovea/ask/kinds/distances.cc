// How far each head of each layer looks, on average.
#include "fovea/ask/picture_answer.h"
#include "fovea/figure/head_shapes.h"

namespace fovea {
namespace {

Answer answer_distances(const Question& question, const FinishedRun& run) {
  const DistanceForm form =
      question.word("compat") ? DistanceForm::kKeras : DistanceForm::kRenormalised;
  const DotsFigure figure = distances_figure(run.run(), form, patch_side(run));
  Json result =
      Json::object({{"unit", "pixels of the model's input"}, {"patch_size", patch_side(run)}});
  if (figure.reference) result.set("even", *figure.reference);
  return picture_answer(figure, place_facts(run.run(), picture_kind(run.run()), HeadChoice{}),
                        std::move(result), question, run);
}

}  // namespace

QuestionKind distances_question() {
  return about_picture(
      {.name = "distances",
       .summary = "how far each head of each layer looks, on average",
       .fields = {{.name = "compat",
                   .help = "distances as a widely copied program has them: too low",
                   .type = FieldType::kChoice,
                   .words = {"keras"}}},
       .answer = answer_distances});
}

}  // namespace fovea
