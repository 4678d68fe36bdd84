// How far a patch looks through one layer, through two, ... through all.
#include "fovea/ask/picture_answer.h"
#include "fovea/explain/rollout.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

Answer answer_field(const Question& question, const FinishedRun& run) {
  const int64_t side = patch_side(run);
  const PatchFields fields = patch_fields(run.run(), picture_choice(question, run).patch, side);
  const PictureSeen seen = picture_seen(run);
  Json depths = Json::array();
  for (const FieldDepth& depth : fields.depths) {
    depths.push_back(Json::object({{"layers", depth.layers},
                                   {"radius50", fields.pixels(depth.field.radius50)},
                                   {"radius90", fields.pixels(depth.field.radius90)},
                                   {"on_patches", depth.field.grid_mass}}));
  }
  Json facts = place_facts(run.run(), fields.kind, HeadChoice{.kind = HeadChoice::Kind::kMean});
  facts.set("method", "rollout");
  const CellMark place = fields.place();
  ImageFigure figure = field_figure(run.run(), fields, *seen.picture, seen.grid);
  std::vector<std::vector<double>> shares;
  for (const FieldDepth& depth : fields.depths) shares.push_back(depth.weights);
  MapData numbers = patch_numbers(figure, shares, fields.grid.rows, fields.grid.cols);
  Answer answer =
      picture_answer(std::move(figure), std::move(facts),
                     Json::object({{"patch", fmt::format("patch {},{}", place.row, place.col)},
                                   {"unit", "pixels of the model's input"},
                                   {"patch_size", side},
                                   {"residual", RolloutOptions().residual},
                                   {"depths", std::move(depths)}}),
                     question, run);
  answer.numbers = std::move(numbers);
  return answer;
}

}  // namespace

QuestionKind field_question() {
  FieldInfo at = patch_field(/*beside_token=*/false);
  at.otherwise = "the patch in the middle";
  return about_picture(
      {.name = "field",
       .summary = "how far a patch looks through one layer, through two, ... (rollout)",
       .fields = {at},
       .answer = answer_field});
}

}  // namespace fovea
