// The coloured squares of a matrix.
#pragma once

#include "fovea/figure/checks.h"
#include "fovea/figure/color_axis.h"
#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"
#include "fovea/tensor/view.h"

namespace fovea {

// One colour per entry, to lie over a picture: larger weights cover more of it, `opacity` at most;
// forbidden cells are dimmed (picture_tone.h).
CellImage cover_cells(MatrixView<const float> weights, const ColorAxis& axis, double opacity);

// What is not allowed is hatched; over half of a large map that would shimmer, so there it is grey.
ForbiddenKey forbidden_key(bool forbidden, int64_t rows, int64_t cols);

// Draws the matrix with its corner at `at`, squares of `cell` units. Small matrices are rectangles
// with a hair of space between them; large ones one picture with hard pixels.
void draw_cells(Canvas& canvas, MatrixView<const float> weights, const ColorAxis& axis, Point at,
                double cell);

// The chosen row (or column) of the map in `map`: a frame, white under the accent so that it shows
// on any colour; or, where a frame would hide the cells, an arrow head at the far side.
void draw_choice(Canvas& canvas, const Rect& map, double cell, int64_t chosen, bool column);

}  // namespace fovea
