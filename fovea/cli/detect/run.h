// A picture run through a detector.
#pragma once

#include <memory>

#include "fovea/cli/command.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

struct DetectorRun {
  Engine engine;
  PictureInput input;
  RunResult result;
};

// FILE through --model at --size. The last run is kept: the gallery shows several views of one, and
// a large picture takes seconds. Throws Error{kUnsupported} if the model finds no objects.
std::shared_ptr<const DetectorRun> run_detector(const Args& args, bool positions);

}  // namespace fovea
