#include "fovea/engine/picture_input.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/engine/training_pictures.h"
#include "fovea/vision/preprocessor.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// Patches that are not whole would not be seen.
PictureSize whole_patches(PictureSize size, int64_t patch) {
  if (size.width < patch || size.height < patch) {
    fail(ErrorKind::kInvalidArgument, Field{"size"},
         "{} x {} is smaller than one patch of {} x {}; give a larger one", size.width, size.height,
         patch, patch);
  }
  return {size.width / patch * patch, size.height / patch * patch};
}

// As many patches as `usual` has, or a few less or more, in the shape of the picture.
PictureSize in_shape_of(PictureSize picture, PictureSize usual, int64_t patch) {
  const double shape =
      std::sqrt(static_cast<double>(picture.width) / static_cast<double>(picture.height));
  const double side =
      std::sqrt(static_cast<double>(usual.width * usual.height)) / static_cast<double>(patch);
  const auto patches = [&](double count) {
    return std::max<int64_t>(1, std::llround(count)) * patch;
  };
  return {patches(side * shape), patches(side / shape)};
}

// The model's preprocessor, with another size if one is given.
Preprocessor preprocessor_of(const Engine& engine, PictureSize picture,
                             std::optional<PictureSize> size) {
  check_sees_pictures(engine);
  const ModelFacts& facts = engine.facts();
  const Checkpoint& checkpoint = engine.checkpoint();
  Preprocessor preprocessor = Preprocessor::open(checkpoint.folder, checkpoint.config.model_type());
  // A detector keeps the shape by itself.
  if (!size || (*size == kKeepShape && facts.finds_objects())) return preprocessor;
  if (*size == kKeepShape && facts.picture->any_size) {
    size = in_shape_of(picture, {facts.picture->image_width, facts.picture->image_height},
                       facts.picture->patch_width);
  }
  if (*size == kKeepShape) {
    fail(ErrorKind::kUnsupported, Field{"size"},
         "it should keep the picture's shape but {} takes {} x {} only; leave it out",
         engine.name(), facts.picture->image_width, facts.picture->image_height);
  }
  if (!facts.picture->any_size) {
    fail(ErrorKind::kUnsupported, Field{"size"},
         "{} x {} is given but {} takes {} x {} only; leave it out", size->width, size->height,
         engine.name(), facts.picture->image_width, facts.picture->image_height);
  }
  return preprocessor.with_size(
      facts.finds_objects() ? *size : whole_patches(*size, facts.picture->patch_width));
}

}  // namespace

void check_sees_pictures(const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (!facts.takes_pixels()) {
    fail(ErrorKind::kUnsupported,
         "{} ({}) sees no pictures; take a model such as scenes-vit, ViT, DINO, CLIP or DETR",
         engine.name(), engine.checkpoint().config.model_type());
  }
  const PictureFacts& picture = *facts.picture;
  if (!facts.finds_objects() && picture.patch_height != picture.patch_width) {
    fail(ErrorKind::kUnsupported,
         "{}: its patches are {} x {} pixels; fovea lays square ones over pictures", engine.name(),
         picture.patch_width, picture.patch_height);
  }
}

PictureInput picture_input(const Engine& engine, Picture picture, std::optional<PictureSize> size) {
  const ModelFacts& facts = engine.facts();
  const PreparedPicture prepared = preprocessor_of(engine, picture.size(), size).prepare(picture);
  ModelInputs inputs;
  inputs.pixel_values = prepared.pixel_values;
  if (facts.finds_objects() && prepared.pixel_mask) inputs.pixel_mask = *prepared.pixel_mask;
  return {.input = engine.label(inputs),
          .picture = std::move(picture),
          .grid = facts.objects
                      ? PatchGrid::of_features(prepared.window, facts.objects->stride)
                      : PatchGrid::of_patches(prepared.window, facts.picture->patch_width)};
}

GridCover cover_of(const PictureInput& input) {
  const PicturePoint cells = input.grid.cover();
  return {.rows = cells.y, .cols = cells.x};
}

RunResult run_picture(const Engine& engine, const PictureInput& input, const RunOptions& options) {
  RunOptions run = options;
  const bool judged = engine.checkpoint().training.has_value() && run.changes.empty();
  if (judged) run.logits = LogitRows::kAll;  // they tell whether the picture is unlike its training
  RunResult result = engine.run(input.input, run);
  if (judged) {
    std::string warning = unlike_training(engine, result.outputs.logits.tensor);
    if (!warning.empty()) {
      result.unlike_training = true;
      result.run.model_note += "; this picture is unlike them";
      result.warnings.insert(result.warnings.begin(), std::move(warning));
    }
  }
  const Picture seen = seen_part(input.picture, input.grid);
  result.run.picture = Tensor::from<uint8_t>({seen.height, seen.width, 3}, seen.bytes);
  return result;
}

}  // namespace fovea
