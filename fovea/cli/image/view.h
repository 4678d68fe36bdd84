// What `fovea image` shows: each view in a file of its own, made from one run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/show.h"
#include "fovea/engine/picture_input.h"
#include "fovea/explain/pictures/artifacts.h"
#include "fovea/render/picture_view.h"

namespace fovea {

// A picture that has been through a model.
struct ImageRun {
  const Args& args;
  const Engine& engine;
  const PictureInput& input;
  const RunResult& result;
  const std::optional<Artifacts>& artifacts;  // none: the model's states are not known
};

struct ImageView {
  std::string name;                  // of --view
  std::string summary;               // for the help
  std::vector<std::string> options;  // that only some views take: "at", "mask", ...
  void (*check)(const Args& args);   // before any work; throws Error{kInvalidArgument}
  Content (*make)(const ImageRun& run);
};

// The first is the default.
std::vector<ImageView> image_views();

// What the view "maps" shows: of a run of a picture, whatever made it.
Content maps_content(const Run& run, const PictureChoice& choice, const Picture& picture,
                     const PatchGrid& grid);

ImageView image_maps_view();         // rows and columns of maps, over the picture
ImageView image_composite_view();    // one colour per head
ImageView image_lost_view();         // one object, out of the keys of a layer
ImageView image_tokencut_view();     // the same by a normalised cut
ImageView image_kernels_view();      // heads over relative offsets
ImageView image_convolution_view();  // the same of a layer built to be a convolution
ImageView image_distances_view();    // how far heads look
ImageView image_field_view();        // how far a patch looks through the layers

}  // namespace fovea
