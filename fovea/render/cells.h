// The coloured squares of a matrix.
#pragma once

#include <utility>
#include <vector>

#include "fovea/figure/checks.h"
#include "fovea/figure/color_axis.h"
#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"
#include "fovea/tensor/view.h"

namespace fovea {

// One colour per entry, to lie over a dark picture: larger weights cover more of it, and what is
// NaN has no colour (picture_tone.h).
CellImage cover_cells(MatrixView<const float> weights, const ColorAxis& axis);
// The same blended between the cells, several pixels to each.
CellImage smooth_cover(MatrixView<const float> weights, const ColorAxis& axis);

// What is not allowed is hatched; over half of a large map that would shimmer, so there it is grey.
ForbiddenKey forbidden_key(bool forbidden, int64_t rows, int64_t cols);

// The colours of a map's cells. Some columns may leave them: these are grey, from 0 to 1.
struct CellColors {
  ColorAxis axis;
  std::vector<int64_t> grey = {};  // rising
  ColorAxis grey_axis{grey_colors(), {0, 1}};

  CellColors(ColorAxis colors, std::vector<int64_t> grey_columns = {})
      : axis(std::move(colors)), grey(std::move(grey_columns)) {}
  Rgb at(float value, int64_t column) const;
};

// Draws the matrix with its corner at `at`, squares of `cell` units. Small matrices are rectangles
// with a hair of space between them; large ones one picture with hard pixels.
void draw_cells(Canvas& canvas, MatrixView<const float> weights, const CellColors& colors, Point at,
                double cell);

// A thin line around a map: white cells at its border need one.
void draw_map_frame(Canvas& canvas, const Rect& map);

// The chosen row (or column) of the map in `map`: a frame, white under the accent so that it shows
// on any colour; or, where a frame would hide the cells, an arrow head at the far side.
void draw_choice(Canvas& canvas, const Rect& map, double cell, int64_t chosen, bool column);

}  // namespace fovea
