// Word alignment is a matrix whose axes are two texts.
#include "fovea/render/draw.h"

namespace fovea {

MatrixFigure as_matrix(const AlignFigure& figure) {
  return {.text = figure.text,
          .rows = figure.target,
          .cols = figure.source,
          .weights = figure.weights,
          .scale = figure.scale,
          .value_name = figure.value_name,
          .row_title = "target",
          .col_title = "source",
          .marks = figure.links};
}

Body draw_align(const AlignFigure& figure, const ColorMap& colors) {
  return draw_matrix(as_matrix(figure), colors);
}

}  // namespace fovea
