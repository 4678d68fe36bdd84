// A detector's attention as matrices: between object queries, and of every cell with every cell.
#pragma once

#include <cstdint>

#include "fovea/figure/detection_view.h"
#include "fovea/figure/view.h"

namespace fovea {

// The decoder's self-attention between the queries of the objects, or where there is no object
// between all: of one head, the mean or the maximum, and of every head.
MatrixFigure between_figure(const DetectionScene& scene, const RecordPointer& record,
                            HeadChoice head);
HeadsFigure between_heads_figure(const DetectionScene& scene, const RecordPointer& record);

struct CellRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// The encoder's map as a whole, pooled as far as a figure needs, and a part of it cell by cell.
// Throws as matrix_view() does.
MatrixFigure cells_figure(const DetectionScene& scene, const ViewChoice& choice);
MatrixFigure cells_part_figure(const DetectionScene& scene, const RecordPointer& record,
                               HeadChoice head, CellRange rows, CellRange cols);

}  // namespace fovea
