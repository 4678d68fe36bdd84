// A picture run through a detector.
#pragma once

#include <memory>

#include "fovea/cli/detect/view.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

struct DetectorRun {
  Engine engine;
  PictureInput input;
  RunResult result;
};

// FILE through --model at --size. The last run is kept: the gallery shows several views of one, and
// a large picture takes seconds. Throws Error{kUnsupported} if the model finds no objects, and
// before the run Error{kInvalidArgument} for what the view asks and neither model nor picture has.
std::shared_ptr<const DetectorRun> run_detector(const Args& args, const DetectView& view);

}  // namespace fovea
