// Pictures in long maps: line by line a neighbour is a whole line away, so that a pooled map is a
// moire. Its cells follow a path on which neighbours stay neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/figure/view_frame.h"

namespace fovea {

struct CellPath {
  Axis axis;                    // the run's, its positions in the order of the path
  std::vector<int64_t> order;   // order[i]: which position of the run stands at i
  std::vector<int64_t> places;  // places[order[i]] == i

  // Cells along hilbert_order(), then what stands in front of them.
  explicit CellPath(const Axis& grid);

  std::shared_ptr<const AttentionRecord> along(const AttentionRecord& record) const;
  PathKey key() const;
};

// Makes a frame that is pooled follow the path, if both its sides are all of one picture and its
// weights do not count how far positions are apart. Its bins grow to 4^k cells, which are squares
// where the grid has 2^k cells a side.
void follow_path(Frame& frame);

}  // namespace fovea
