// What `fovea evaluate` has for detectors: a folder of pictures with true objects, run one by one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/ask/detection_answer.h"
#include "fovea/cli/command.h"
#include "fovea/cli/evaluate/truth_folder.h"

namespace fovea {

// --threshold, or 0.7. Throws Error{kInvalidArgument}.
double threshold_of(const Args& args);

// Calls `visit` with every picture's run, whose objects are those with a score above
// `threshold`. One picture is in memory at a time.
void for_each_detection(
    const Args& args, const Engine& engine, const std::vector<TruthFiles>& files, double threshold,
    const std::function<void(const TruthFiles&, const DetectedObjects&)>& visit);

// Boxes of two kinds of names: an index for every label, of the model and of the truth.
int64_t label_index(const Engine& engine, const std::string& name);

// `fovea evaluate masks` of a model that finds objects: every way to a mask side by side.
void evaluate_object_masks(const Args& args, const Engine& engine);

}  // namespace fovea
