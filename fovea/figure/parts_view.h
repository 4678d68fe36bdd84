// The whole map of a picture as a map of maps: the picture in parts, and at the place of each part
// a small picture of what its cells attend to.
#pragma once

#include "fovea/figure/figure.h"
#include "fovea/figure/view_frame.h"

namespace fovea {

// The attention that is meant: of the choice's kind, or else the run's first from a picture to
// itself. Throws Error{kNotFound} if there is none.
RecordPointer parts_record(const Run& run, const ViewChoice& choice);

// `picture` lies under the grid of cells. Values are the mean over the rows of a part, or the sum
// over its columns where the choice wants who attends to it; times even unless another is asked
// for. Throws Error{kUnsupported} where weights count how far positions are apart.
ImageFigure parts_figure(const Run& run, const ViewChoice& choice, Picture picture);

}  // namespace fovea
