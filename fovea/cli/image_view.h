// What `fovea image` shows: each view in a file of its own, image_<view>.cc, made from one run.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/show.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

// A picture that has been through a model.
struct ImageRun {
  const Args& args;
  const Engine& engine;
  const PictureInput& input;
  const RunResult& result;
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

ImageView image_maps_view();      // rows and columns of maps, over the picture
ImageView image_lost_view();      // one object, out of the keys of a layer
ImageView image_tokencut_view();  // the same by a normalised cut

}  // namespace fovea
