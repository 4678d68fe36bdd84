// A picture file as a model takes it.
#pragma once

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
  PatchGrid grid;   // maps patches or cells to pixels of `picture`, and back
};

// In place of a size: the picture's own shape, with about as many patches as the model usually has.
inline constexpr PictureSize kKeepShape{};

// Throws Error{kUnsupported} if the model sees no pictures.
void check_sees_pictures(const Engine& engine);

// Prepares a picture. `size` is the size of the model's input, or kKeepShape; none: as its
// preprocessor says.
// Throws what preparing throws, and Error{kUnsupported} if the model sees no pictures.
PictureInput picture_input(const Engine& engine, Picture picture,
                           std::optional<PictureSize> size = {});

// How many cells of the grid lie over the picture.
GridCover cover_of(const PictureInput& input);

// Runs the model on the picture. The run keeps a small copy of what the model saw.
RunResult run_picture(const Engine& engine, const PictureInput& input,
                      const RunOptions& options = {});

}  // namespace fovea
