// What kind each head of an overview is, by the run's own text.
#pragma once

#include "fovea/figure/figure.h"
#include "fovea/figure/view.h"

namespace fovea {

// Sets the kinds of the panels as stats names them (explain/head_numbers.h), if rows and columns
// are one text. One more pass over each map.
void name_head_kinds(HeadsFigure& figure, const Run& run, const ViewChoice& choice);

}  // namespace fovea
