// What several kinds of questions about a picture put into their results: masks, boxes, found
// objects and kernels as JSON.
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
// COCO's form of the mask of one object, which has the number 1.
Json rle_json(LabelMask mask);

// An object with "radius" and "kernels".
Json kernels_json(const std::vector<NamedKernel>& kernels);

// An answer that shows an object found without training; its labels are the object's mask.
Answer object_answer(const FoundObject& object, const Question& question, const FinishedRun& run);

}  // namespace fovea
