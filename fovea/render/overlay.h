// A picture with what is laid over it: the weights of its patches, areas of objects, boxes.
#pragma once

#include "fovea/render/canvas.h"
#include "fovea/render/color_axis.h"
#include "fovea/render/figure.h"

namespace fovea {

// Throws Error{kInvalidArgument} unless the parts of the figure fit together.
void check_image(const ImageFigure& figure);

// The picture below all layers: as it is, and faded below the colours of weights.
struct PictureBase {
  CanvasPicture plain;
  CanvasPicture quiet;

  static PictureBase of(const Picture& picture);
};

// The picture with the panel's layers.
void draw_overlay(Canvas& canvas, const ImageFigure& figure, const ImagePanel& panel,
                  const PictureBase& base, const ColorAxis& axis, const Rect& where);

// The colours as they look over the picture: what the figure's colour bar shows.
ColorMap colors_of_bar(const ImageFigure& figure, const ColorMap& colors);

// The rectangle of a grid cell in a picture drawn at `where`.
Rect cell_rect(const Tensor& weights, const CellMark& cell, const Rect& where);

// "24 x 30 patches, one colour each. The line holds 50 % of the mass."
std::string patches_note(const ImageFigure& figure);

}  // namespace fovea
