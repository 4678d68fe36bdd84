// Makes the axes of a picture's run.
#pragma once

#include "fovea/capture/run.h"
#include "fovea/models/model.h"

namespace fovea {

// "patches": how the model cuts a picture [channels, height, width]. The tokens in front come
// first, marked special; then the grid, "patch ROW,COLUMN" from 0. Without a picture that fits, the
// axis is empty.
Axis patch_axis(const PictureFacts& facts, const Tensor& pixels);

// "cells": the feature map that the model makes of the picture, "cell ROW,COLUMN" from 0. Cells
// that show only padding are marked special; they keep their place in the grid.
Axis cell_axis(const ObjectFacts& facts, const Tensor& pixels, const Tensor& pixel_mask);

// "queries": the objects that the model may find, "query 0", ...
Axis query_axis(const ObjectFacts& facts);

// "pool": the one row of a head that attends to the patches.
Axis pool_axis();

}  // namespace fovea
