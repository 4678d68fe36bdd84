// What the results of several kinds of questions about a picture hold: masks, boxes, found objects
// and kernels as JSON.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/ask/picture_answer.h"
#include "fovea/explain/pictures/picture_score.h"
#include "fovea/figure/head_shapes.h"
#include "fovea/figure/object_view.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

Json pair_json(int64_t first, int64_t second);
// [x0, y0, x1, y1] in pixels of the picture; null if there is nothing in it.
Json box_json(const PictureBox& box);
// 0 or 1 for each patch.
Json cells_json(const GridMask& mask);
// COCO's form of a mask of one object, numbered 1.
Json rle_json(LabelMask mask);

// "radius" and "kernels".
Json kernels_json(const std::vector<NamedKernel>& kernels);

// One object that was found without training, with its mask as labels.
Answer object_answer(const FoundObject& object, const Question& question, const FinishedRun& run);

}  // namespace fovea
