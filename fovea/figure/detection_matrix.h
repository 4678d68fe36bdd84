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

}  // namespace fovea
