// One object that nobody trained the model to find, out of the keys of a layer by LOST.
#include "fovea/ask/picture_results.h"

namespace fovea {
namespace {

Answer answer_lost(const Question& question, const FinishedRun& run) {
  return object_answer(find_lost(run.run(), question.place.layer), question, run);
}

}  // namespace

QuestionKind lost_question() {
  return about_picture({.name = "lost",
                        .summary = "one object by LOST, with its mask and box",
                        .fields = {layer_field()},
                        .answer = answer_lost});
}

}  // namespace fovea
