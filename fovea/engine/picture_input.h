// A picture file as a model takes it.
#pragma once

#include <filesystem>
#include <optional>

#include "fovea/engine/engine.h"
#include "fovea/explain/pictures/pixel_mask.h"
#include "fovea/vision/patch_grid.h"
#include "fovea/vision/picture.h"

namespace fovea {

struct PictureInput {
  EncodedInput
      input;  // pixel_values, pixel_mask where the model takes it, and the axis of its patches
  Picture picture;  // upright, as the file shows it
  PatchGrid grid;   // from patches, or cells, to pixels of that and back
};

// Throws Error{kUnsupported} if the model sees no pictures.
void check_sees_pictures(const Engine& engine);

// `size`: of the model's input, instead of what its preprocessor says. Throws what reading and
// preparing a picture throw, and Error{kUnsupported} if the model sees no pictures.
PictureInput read_picture_input(const Engine& engine, const std::filesystem::path& path,
                                std::optional<PictureSize> size = {});

// The same of a picture that is read already.
PictureInput picture_input(const Engine& engine, Picture picture,
                           std::optional<PictureSize> size = {});

// How much of the grid lies over the picture.
GridCover cover_of(const PictureInput& input);

// Engine::run, with a small copy of what the model saw kept in the run.
RunResult run_picture(const Engine& engine, const PictureInput& input,
                      const RunOptions& options = {});

}  // namespace fovea
