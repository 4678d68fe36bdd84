// From a translation's run and its alignment to a figure.
#pragma once

#include "fovea/explain/alignment/aligner.h"
#include "fovea/figure/figure.h"

namespace fovea {

struct AlignViewOptions {
  bool pieces = false;  // tokens as the model has them, special ones too, instead of words
  bool hard = false;    // the links alone
};

// The source across, the target down; links are marked. The caption says which map this is, why it
// was chosen, and how much attention lies on what is not shown.
AlignFigure align_view(const Run& run, const PairMaps& pair, const MapChoice& choice,
                       const AlignOptions& options, const AlignViewOptions& view = {});

}  // namespace fovea
