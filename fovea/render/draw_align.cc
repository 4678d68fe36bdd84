// Word alignment is a matrix whose axes are two texts.
#include "fovea/render/draw.h"

namespace fovea {

Body draw_align(const AlignFigure& figure, const ColorMap& colors) {
  return draw_matrix({.text = figure.text,
                      .rows = figure.target,
                      .cols = figure.source,
                      .weights = figure.weights,
                      .scale = figure.scale,
                      .value_name = "attention weight",
                      .row_title = "target",
                      .col_title = "source",
                      .marks = figure.links},
                     colors);
}

}  // namespace fovea
