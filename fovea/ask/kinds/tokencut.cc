// One object that nobody trained the model to find, out of the keys of a layer by TokenCut.
#include "fovea/ask/picture_results.h"

namespace fovea {
namespace {

Answer answer_tokencut(const Question& question, const FinishedRun& run) {
  return object_answer(find_token_cut(run.run(), question.place.layer), question, run);
}

}  // namespace

QuestionKind tokencut_question() {
  return about_picture({.name = "tokencut",
                        .summary = "one object by TokenCut, with its mask and box",
                        .fields = {layer_field()},
                        .answer = answer_tokencut});
}

}  // namespace fovea
