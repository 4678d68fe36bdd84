// A detector's attention as matrices: between object queries, and between all cells.
#pragma once

#include <cstdint>

#include "fovea/figure/detection_view.h"
#include "fovea/figure/view.h"

namespace fovea {

// The decoder's self-attention between the objects' queries, or between all queries if there is no
// object. The first form shows one head, the mean, the maximum or the minimum, the second several
// heads.
MatrixFigure between_figure(const DetectionScene& scene, const RecordPointer& record,
                            HeadChoice head, const MapDrawing& drawing = {});
HeadsFigure between_heads_figure(const DetectionScene& scene, const RecordPointer& record,
                                 const HeadChoice& heads = {}, const MapDrawing& drawing = {});

// The encoder's whole map, pooled as far as a figure needs, and a part of it cell by cell. Throws
// as matrix_view() does.
MatrixFigure cells_figure(const DetectionScene& scene, const ViewChoice& choice);
MatrixFigure cells_part_figure(const DetectionScene& scene, const ViewChoice& choice);

}  // namespace fovea
