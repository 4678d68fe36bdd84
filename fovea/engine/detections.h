// The objects that a model found in a picture.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/engine/engine.h"
#include "fovea/vision/picture.h"

namespace fovea {

struct Detection {
  int64_t query = 0;     // the object query that found it
  int64_t label = 0;     // its class, an index into Engine::labels()
  double score = 0;      // the probability of that class
  PictureRectangle box;  // in pixels of the picture; may reach a little over its edges
};

// One detection for every query whose best class is more likely than `threshold`, in the order of
// the queries, as transformers' post_process_object_detection does it: "no object" takes part in
// the softmax but is never the class. `picture` is the size of the upright original. Throws
// Error{kInvalidArgument} if the run gave no logits and boxes, and Error{kBadFile} if one of them
// is not finite.
std::vector<Detection> detections(const RunResult& result, PictureSize picture, double threshold);

}  // namespace fovea
