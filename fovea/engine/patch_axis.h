// Pictures as the axes of a run.
#pragma once

#include "fovea/capture/run.h"
#include "fovea/models/model.h"

namespace fovea {

// "patches" of a picture [channels, height, width] as such a model cuts it: its tokens in front,
// marked special, then the grid, "patch ROW,COLUMN" from 0. No positions without a picture that it
// takes.
Axis patch_axis(const PictureFacts& facts, const Tensor& pixels);

// "cells" of the feature map that such a model makes of it, "cell ROW,COLUMN" from 0; those that
// show only padding are marked special and keep their place in the grid.
Axis cell_axis(const ObjectFacts& facts, const Tensor& pixels, const Tensor& pixel_mask);

// "queries", the objects that such a model may find: "query 0", ...
Axis query_axis(const ObjectFacts& facts);

// "pool", the one row of a head that attends to the patches.
Axis pool_axis();

}  // namespace fovea
