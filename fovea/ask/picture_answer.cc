#include "fovea/ask/picture_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/engine/text_similarity.h"
#include "fovea/explain/rollout.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// A token in front by its name ("reg 1"), or as token_named() takes it ("patch 3,7", "#5").
int64_t picture_position(const Axis& patches, const std::string& token) {
  if (const auto front = find_front_token(patches, token)) return *front;
  const bool numbered =
      parse_number<int64_t>(std::string_view(token).substr(token.starts_with('#') ? 1 : 0))
          .has_value();
  if (!numbered && std::ranges::count(patches.positions, token, &Position::text) == 0) {
    front_token_named(patches, token);  // says what there is
  }
  return token_named(patches, token).index;
}

// Where patches begin, behind [CLS] and registers.
int64_t first_patch(const Axis& axis) {
  return axis.grid_rows > 0 ? PictureAxis::of(axis).specials : 0;
}

// The small copy that the run keeps, under the axis' grid.
PictureSeen kept_picture(const Run& run, const Axis& axis) {
  auto picture = std::make_shared<const Picture>(picture_of(run));
  const PatchGrid grid = grid_over(picture->size(), axis.grid_rows, axis.grid_cols);
  return {std::move(picture), grid};
}

void check_sees_patches(const Engine& engine) {
  check_sees_pictures(engine);
  if (!engine.facts().finds_objects()) return;
  fail(ErrorKind::kUnsupported, "{} finds objects and has no patches", engine.name());
}

void check_in_picture(const Question& question, const OpenedInput& opened) {
  if (question.fields.find("text") != nullptr) check_compares_texts(opened.engine);
  if (!opened.picture) return;
  for (const PictureSpot& spot : question.place.at) patch_at(opened.picture->grid, spot);
  if (question.place.token) picture_position(opened.encoded.patches, *question.place.token);
}

std::vector<std::string> texts_of(const Question& question) {
  std::vector<std::string> texts;
  const Json* given = question.fields.find("text");
  if (given == nullptr) return texts;
  for (const Json& text : given->as_array("text")) texts.push_back(text.as_string("text"));
  return texts;
}

// In the order in which the texts were given.
Json similarity_facts(const std::vector<std::string>& texts, const FinishedRun& run) {
  if (run.engine() == nullptr) {
    fail(ErrorKind::kUnsupported, Field{"text"},
         "a captured run has no model to read it; leave it out");
  }
  const std::vector<TextSimilarity> found = text_similarities(*run.engine(), run.result(), texts);
  const SimilarityFacts& facts = *run.engine()->facts().similarity;
  Json each = Json::array();
  for (const TextSimilarity& one : found) {
    each.push_back(Json::object({{"text", one.text},
                                 {"cosine", one.cosine},
                                 {"logit", one.logit},
                                 {"probability", one.probability}}));
  }
  return Json::object({{"scale", facts.scale},
                       {"bias", facts.bias},
                       {"probability", facts.sigmoid ? "sigmoid" : "softmax"},
                       {"texts", std::move(each)}});
}

}  // namespace

std::string pixels_text(const PatchGrid& grid, int64_t patch) {
  const PictureRectangle part = grid.rectangle(patch);
  const auto range = [](double from, double to) {
    return fmt::format("{:.0f} to {:.0f}", std::floor(from),
                       std::max(std::floor(from), std::ceil(to) - 1));
  };
  return fmt::format("pixels {} across, {} down", range(part.left, part.right),
                     range(part.top, part.bottom));
}

QuestionKind about_picture(QuestionKind kind) {
  kind.fields.push_back({.name = "text",
                         .shown = "TEXT",
                         .help = "how well this text goes with the picture; several are compared",
                         .may_be_empty = true,
                         .several = true,
                         .on_page = false,
                         .models = "models with a tower for each, CLIP and SigLIP"});
  kind.verbs = {"image"};
  kind.has_page = kind.page != nullptr;  // a page shows maps; no other view stands in it
  kind.check = check_sees_patches;
  kind.check_input = check_in_picture;
  return kind;
}

FieldInfo patch_field(bool beside_token) {
  FieldInfo field = at_field();
  field.help = "the patch at this pixel of the picture";
  field.otherwise = "what stands in front of the patches, [CLS]";
  if (beside_token) field.rules = {{.excludes = "token", .why = "chooses a patch"}};
  return field;
}

FieldInfo front_token_field() {
  FieldInfo field = token_field();
  field.shown = "NAME";
  field.help = "another token in front of the patches, \"[REG 1]\", or a patch, \"patch 3,7\"";
  field.otherwise = "[CLS]";
  return field;
}

FieldInfo mask_field() {
  return {.name = "mask",
          .shown = "P",
          .help = "the fewest patches that hold this share of the mass, 0.6 say",
          .type = FieldType::kReal,
          .low = 0,
          .low_excluded = true,
          .high = 1,
          .otherwise = "0.6 of the composite, else every patch is shown",
          .on_page = false};
}

PictureChoice picture_choice(const Question& question, const FinishedRun& run) {
  const Place& place = question.place;
  const Axis& patches = picture_axis(run.run());
  PictureChoice choice{.layer = place.layer,
                       .head = place.head.value_or(HeadChoice{}),
                       .column = place.column,
                       .mask = question.number("mask").value_or(0),
                       .all_layers = place.all_layers,
                       .smooth = question.flag("smooth")};
  if (!place.at.empty()) choice.patch = patch_at(picture_seen(run).grid, place.at.front());
  if (!place.token) return choice;
  const int64_t index = picture_position(patches, *place.token);
  const int64_t front = PictureAxis::of(patches).specials;
  if (index < front) {
    choice.token = patches.positions[static_cast<size_t>(index)].text;
  } else {
    choice.patch = index - front;
  }
  return choice;
}

int64_t patch_at(const PatchGrid& grid, PictureSpot spot, std::string_view field) {
  const std::optional<int64_t> patch = grid.patch_of_pixel(spot.x, spot.y);
  if (patch) return *patch;
  const PictureSize size = grid.window().original;
  const bool inside = spot.x >= 0 && spot.y >= 0 && spot.x < size.width && spot.y < size.height;
  fail(ErrorKind::kInvalidArgument, Field{field}, "{},{} is not seen: {}", spot.x, spot.y,
       inside ? "the model's input is cut to the middle of the picture"
              : fmt::format("the picture has {} x {} pixels, counted from 0", size.width,
                            size.height));
}

int64_t position_at(const PatchGrid& grid, const Axis& axis, PictureSpot spot,
                    std::string_view field) {
  if (axis.grid_rows == 0) {
    fail(ErrorKind::kInvalidArgument, Field{field},
         "{},{} is a pixel but these {} are {}, no part of the picture; leave it out, or choose "
         "another `site`",
         spot.x, spot.y, field == "at" ? "rows" : "columns",
         axis.name == "pool" ? "one pooling head" : axis.name);
  }
  return first_patch(axis) + patch_at(grid, spot, field);
}

FoundToken picture_row(const Place& place, const PatchGrid& grid, const Axis& rows,
                       const std::string& model) {
  const int64_t front = first_patch(rows);
  FoundToken found;
  if (!place.at.empty()) {
    found.index = position_at(grid, rows, place.at.front());
  } else if (place.token) {
    found = token_named(rows, *place.token);
  } else if (rows.grid_rows > 0 && front == 0) {
    fail(ErrorKind::kInvalidArgument, Field{"at"},
         "it is left out, but {} has no token in front of its patches to look from; choose a patch "
         "by a pixel, X,Y",
         model);
  }
  if (rows.grid_rows > 0 && found.index >= front) {
    if (!found.note.empty()) found.note += " · ";
    found.note += pixels_text(grid, found.index - front);
  }
  return found;
}

int64_t patch_side(const FinishedRun& run) {
  if (run.engine() == nullptr) {
    fail(ErrorKind::kUnsupported,
         "a captured run does not know how many pixels a patch has; take the picture and its "
         "model");
  }
  return run.engine()->facts().picture->patch_height;
}

PictureSeen picture_seen(const FinishedRun& run) {
  if (run.opened && run.opened->picture) {
    return {std::shared_ptr<const Picture>(run.opened, &run.opened->picture->picture),
            run.opened->picture->grid};
  }
  return kept_picture(run.run(), picture_axis(run.run()));
}

std::optional<PictureSeen> captured_picture(const Run& run, const Axis& axis) {
  if (run.picture.empty() || axis.grid_rows == 0) return {};
  return kept_picture(run, axis);
}

std::optional<Picture> picture_below(const FinishedRun& run, const Axis& cells) {
  if (cells.grid_rows == 0) return {};
  if (run.opened && run.opened->picture) {
    return seen_part(run.opened->picture->picture, run.opened->picture->grid);
  }
  const auto kept = captured_picture(run.run(), cells);
  if (!kept) return {};
  return seen_part(*kept->picture, kept->grid);
}

bool looks_at_picture(const Place& place, const OpenedInput& opened) {
  if (opened.encoded.patches.positions.empty()) return false;
  return opened.encoded.inputs.tokens() == 0 || place.site == SiteKind::kVisionSelf ||
         place.site == SiteKind::kPool;
}

std::optional<Artifacts> artifacts_of(const FinishedRun& run) {
  const Tensor& states = run.result().outputs.states_before_norm.tensor;
  if (states.empty() || run.sort() != RunSort::kPicture) return {};
  return find_artifacts(states, PictureAxis::of(picture_axis(run.run())));
}

Json to_json(const Artifacts& artifacts) {
  Json which = Json::array();
  for (int64_t i = 0; i < artifacts.outliers.grid.patches(); ++i) {
    if (artifacts.outliers.holds(i)) which.push_back(i);
  }
  return Json::object({{"patches", static_cast<int64_t>(artifacts.norms.size())},
                       {"outliers", artifacts.count()},
                       {"share", artifacts.share()},
                       {"cut", artifacts.cut},
                       {"median", artifacts.median},
                       {"deviation", artifacts.deviation},
                       {"which", std::move(which)}});
}

Json place_facts(SiteId site, const HeadChoice& head) {
  return Json::object({{"site", to_string(site.kind)},
                       {"layer", int64_t{site.layer}},
                       {"head", to_json(head)},
                       {"direction", "row"},
                       {"method", "attention"}});
}

Json place_facts(const Run& run, SiteKind kind, const HeadChoice& head) {
  Json layers = Json::array();
  for (const auto& record : layers_of(run, kind)) layers.push_back(int64_t{record->site.layer});
  Json facts = place_facts({kind, 0}, head);
  facts.set("layer", std::move(layers));
  return facts;
}

Answer picture_answer(Figure figure, Json facts, Json result, const Question& question,
                      const FinishedRun& run) {
  const std::vector<std::string> texts = texts_of(question);
  if (!texts.empty()) result.set("similarity", similarity_facts(texts, run));
  facts.set("result", std::move(result));
  return {.figure = std::move(figure), .facts = std::move(facts)};
}

}  // namespace fovea
