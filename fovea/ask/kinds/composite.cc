// The masks of all heads in one picture, one colour each.
#include "fovea/ask/picture_results.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

Answer answer_composite(const Question& question, const FinishedRun& run) {
  PictureChoice choice = picture_choice(question, run);
  choice.mask = 0;  // of all heads together
  const Composite composite =
      composite_of(run.run(), choice, question.number("mask").value_or(kMassShare));
  const PictureSeen seen = picture_seen(run);
  Json heads = Json::array();
  for (size_t head = 0; head < composite.maps.maps.size(); ++head) {
    heads.push_back(Json::object({{"head", static_cast<int64_t>(head)},
                                  {"strongest_share", composite.owned(head)},
                                  {"mask_share", composite.covered(head)},
                                  {"mask", cells_json(composite.masks.heads[head])}}));
  }
  return picture_answer(
      composite_figure(run.run(), composite, *seen.picture, seen.grid),
      place_facts(composite.maps.site, HeadChoice{}),
      Json::object({{"query", composite.maps.query}, {"heads", std::move(heads)}}), question, run);
}

}  // namespace

QuestionKind composite_question() {
  return about_picture({.name = "composite",
                        .summary = "the masks of all heads in one picture, one colour each",
                        .fields = {layer_field(), patch_field(/*beside_token=*/true),
                                   front_token_field(), mask_field()},
                        .answer = answer_composite});
}

}  // namespace fovea
