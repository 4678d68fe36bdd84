// Shows why one cell of a detector's encoder attends to another: the score split into content and
// position, head by head.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/explain/pictures/score_split.h"
#include "fovea/figure/detection_view.h"

namespace fovea {

struct CellPair {
  RecordPointer record;
  int64_t from = 0;
  int64_t to = 0;
  std::string from_name;
  std::string to_name;
  std::vector<ScoreSplit> heads;

  const ScoreSplit& strongest() const;  // the head with the largest weight
};

// Splits the score in one head, or in every head with kAll. Throws Error{kUnsupported} if the model
// adds no positions to queries and keys.
CellPair split_pair(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    int64_t from, int64_t to);

// The four terms and the score of each head, as [heads, 5].
Tensor term_values(const CellPair& pair);

// The pair in the picture, the terms, the weights and the largest products.
StepsFigure why_figure(const DetectionScene& scene, const CellPair& pair);

}  // namespace fovea
