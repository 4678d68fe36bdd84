// A picture run through a detector, and what `fovea detect` shows of it.
#pragma once

#include <optional>
#include <string>

#include "fovea/cli/detect/view.h"

namespace fovea {

// The last run, for who shows several views of one picture: a large one takes seconds.
struct KeptDetectRun {
  std::string key;  // model, picture, size and numbers that it is of
  std::optional<DetectRun> run;
};

// FILE through --model at --size, with the objects above --threshold: the kept run where it is of
// the same, else a new one in its place. Throws Error{kUnsupported} if the model finds no objects,
// and before the run Error{kInvalidArgument} for what the view asks and neither model nor picture
// has.
const DetectRun& run_detector(const Args& args, const DetectView& view, KeptDetectRun& kept);

// What `fovea detect` does. Throws what that throws.
void show_detections(const Args& args, KeptDetectRun& kept);

}  // namespace fovea
