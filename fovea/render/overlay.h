// Draws a picture with layers over it: weights of its patches, areas of objects, boxes.
#pragma once

#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"

namespace fovea {

// The picture below all layers: as it is, and grey and dark below the colours of weights.
struct PictureBase {
  CanvasPicture plain;
  CanvasPicture ground;

  static PictureBase of(const Picture& picture);
};

// The picture with the panel's layers.
void draw_overlay(Canvas& canvas, const ImageFigure& figure, const ImagePanel& panel,
                  const PictureBase& base, const ColorAxis& axis, const Rect& where);

// The colours as they look over the picture: what the figure's colour bar shows.
ColorMap colors_of_bar(const ImageFigure& figure, const ColorMap& colors);

// The rectangle of a grid cell in a picture drawn at `where`.
Rect cell_rect(const Tensor& weights, const CellMark& cell, const Rect& where);

}  // namespace fovea
