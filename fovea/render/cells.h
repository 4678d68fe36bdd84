// The coloured squares of a matrix.
#pragma once

#include "fovea/figure/checks.h"
#include "fovea/figure/color_axis.h"
#include "fovea/render/canvas.h"
#include "fovea/tensor/view.h"

namespace fovea {

// One colour per entry, to lie over a picture: larger weights cover more of it, `opacity` at most;
// forbidden cells are dimmed (picture_tone.h).
CellImage cover_cells(MatrixView<const float> weights, const ColorAxis& axis, double opacity);

// Draws the matrix with its corner at `at`, squares of `cell` units. Small matrices are rectangles
// with a hair of space between them; large ones one picture with hard pixels.
void draw_cells(Canvas& canvas, MatrixView<const float> weights, const ColorAxis& axis, Point at,
                double cell);

}  // namespace fovea
