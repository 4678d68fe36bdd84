// A picture with what is laid over it: the weights of its patches, areas of objects, boxes.
#pragma once

#include "fovea/render/canvas.h"
#include "fovea/render/color_axis.h"
#include "fovea/render/figure.h"

namespace fovea {

// Throws Error{kInvalidArgument} unless the parts of the figure fit together.
void check_image(const ImageFigure& figure);

CanvasPicture canvas_picture(const Picture& picture);

// The panel's layers over the picture that is drawn at `where` already.
void draw_overlay(Canvas& canvas, const ImageFigure& figure, const ImagePanel& panel,
                  const ColorAxis& axis, const Rect& where);

// The rectangle of a grid cell in a picture drawn at `where`.
Rect cell_rect(const Tensor& weights, const CellMark& cell, const Rect& where);

// "24 x 30 patches, one colour each. The line holds 50 % of the mass."
std::string patches_note(const ImageFigure& figure);

}  // namespace fovea
