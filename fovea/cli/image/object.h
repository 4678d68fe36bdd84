// What views of a picture that find an object have in common.
#pragma once

#include "fovea/cli/image/view.h"
#include "fovea/explain/pictures/picture_score.h"
#include "fovea/render/object_view.h"

namespace fovea {

Content object_content(const ImageRun& run, const FoundObject& object);

// [x0, y0, x1, y1] in pixels of the picture; null if there is nothing in it.
Json box_json(const PictureBox& box);
// COCO's form of a mask of one object, numbered 1.
Json rle_json(LabelMask mask);

}  // namespace fovea
