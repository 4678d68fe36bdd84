// Makes a figure from a translation's run and its alignment.
#pragma once

#include "fovea/explain/alignment/aligner.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_drawing.h"

namespace fovea {

struct AlignViewOptions {
  bool pieces = false;  // tokens as the model has them, special ones too, instead of words
  bool hard = false;    // the links alone
  // Weights or times even; with `hard` and where norms are shown, weights on a scale to 1.
  MapDrawing drawing = {};
};

// Draws the source across and the target down, and marks the links. The caption says which map this
// is, why it was chosen, and how much attention lies on what is not shown.
AlignFigure align_view(const Run& run, const PairMaps& pair, const MapChoice& choice,
                       const AlignOptions& options, const AlignViewOptions& view = {});

}  // namespace fovea
