// Shows what one patch or token attends to, laid over the picture.
#include "fovea/ask/map_answer.h"
#include "fovea/ask/picture_results.h"
#include "fovea/base/error.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

// Patches of outlying norm, which the others' weights are told without.
GridMask outliers_of(const FinishedRun& run) {
  const std::optional<Artifacts> artifacts = artifacts_of(run);
  if (artifacts) return artifacts->outliers;
  fail(ErrorKind::kUnsupported, Field{"without_artifacts"},
       "it needs the states before the final norm, which {}; leave it out",
       run.engine() == nullptr ? "a captured run does not keep" : "this model does not give");
}

// Weights of all patches, where the figure shows those of its masks alone, or something else that
// suits a picture better.
MapData all_weights(const PatchMaps& maps, const ImageFigure& figure) {
  std::vector<std::vector<double>> weights;
  for (const PatchMap& map : maps.maps) weights.push_back(map.weights);
  return patch_numbers(figure, weights, maps.grid_rows, maps.grid_cols);
}

void add_patch_masks(Json& result, const PatchMaps& maps, const PatchGrid& grid) {
  Json masks = Json::array(), boxes = Json::array(), runs = Json::array();
  for (const PatchMap& map : maps.maps) {
    masks.push_back(cells_json(*map.mask));
    runs.push_back(rle_json(pixel_mask(grid, *map.mask)));
    boxes.push_back(box_json(pixel_box(grid, box_of(largest_component(*map.mask)))));
  }
  result.set("masks", std::move(masks));
  result.set("rle", std::move(runs));
  result.set("boxes_xyxy", std::move(boxes));
}

Json maps_result(const PatchMaps& maps, const PictureChoice& choice, const PictureSeen& seen,
                 const FigureText& text) {
  Json result = Json::object(
      {{"query", maps.query}, {"picture", pair_json(seen.picture->width, seen.picture->height)}});
  Json sums = Json::array(), on_patches = Json::array(), removed = Json::array();
  for (const PatchMap& map : maps.maps) {
    sums.push_back(map.sum);
    on_patches.push_back(map.on_patches);
    removed.push_back(map.removed);
  }
  result.set("sums", std::move(sums));
  result.set("on_patches", std::move(on_patches));
  if (choice.mask > 0) add_patch_masks(result, maps, seen.grid);
  if (choice.without) {
    result.set("without_artifacts", choice.without->count());
    result.set("removed", std::move(removed));
    result.set("badge", text.badge);
  }
  return result;
}

Answer answer_maps(const Question& question, const FinishedRun& run) {
  PictureChoice choice = picture_choice(question, run);
  choice.drawing = picture_drawing(view_choice(question));
  if (question.flag("without_artifacts")) choice.without = outliers_of(run);
  const PatchMaps maps = patch_maps(run.run(), choice);
  const PictureSeen seen = picture_seen(run);
  ImageFigure figure = picture_view(run.run(), maps, choice, *seen.picture, seen.grid);
  figure.text.caption += model_note(run.run());
  const FigureText text = figure.text;
  std::optional<MapData> numbers;
  if (choice.mask > 0 || question.fields.find("of") == nullptr) {
    numbers = all_weights(maps, figure);
  }
  Json facts = choice.all_layers ? place_facts(run.run(), maps.site.kind, choice.head)
                                 : place_facts(maps.site, choice.head);
  if (choice.column) facts.set("direction", "column");
  Answer answer = picture_answer(std::move(figure), std::move(facts),
                                 maps_result(maps, choice, seen, text), question, run);
  answer.numbers = std::move(numbers);
  if (choice.mask > 0) {
    if (maps.maps.size() == 1) answer.labels = pixel_mask(seen.grid, *maps.maps.front().mask);
  }
  return answer;
}

// All maps of the run; it opens on what is asked, or on the token in front of the patches.
PageOptions maps_page(const Question& question, const FinishedRun& run) {
  const PictureChoice chosen = picture_choice(question, run);
  PageOptions options{.choice = view_choice(question)};
  if (chosen.patch) {
    const int64_t front = PictureAxis::of(picture_axis(run.run())).specials;
    options.choice.token = fmt::format("#{}", front + *chosen.patch);
  } else if (chosen.token) {
    options.choice.token = chosen.token;
  } else if (chosen.column) {
    options.choice.token = "#0";
  }
  options.opens_at = picture_kind(run.run());
  if (options.choice.layer) options.choice.kind = options.opens_at;
  return options;
}

}  // namespace

QuestionKind maps_question() {
  FieldInfo column = column_field();
  column.help = "who attends to it, not what it attends to";
  column.rules.clear();  // [CLS] is looked from, or at, without a token
  return about_picture(
      {.name = "maps",
       .summary = "what one position attends to, in each head",
       .fields = joined_fields({layer_field(/*all_layers=*/true),
                                heads_field(),
                                patch_field(/*beside_token=*/true),
                                front_token_field(),
                                column,
                                mask_field(),
                                {.name = "without_artifacts",
                                 .help = "take out patches of outlying norm and renormalise "
                                         "the rest",
                                 .type = FieldType::kFlag,
                                 .on_page = false,
                                 .rules = {{.excludes = "column",
                                            .why = "renormalises what one position attends "
                                                   "to"}}}},
                               picture_drawing_fields()),
       .answer = answer_maps,
       .page = maps_page});
}

}  // namespace fovea
