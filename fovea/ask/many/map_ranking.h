// All maps of cross-attention by how well they align, as data.
#pragma once

#include <optional>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/alignment/aligner.h"

namespace fovea {

struct RankedMaps {
  std::vector<HeadStatistics> statistics;  // by the rule's score, the best first
  MapChoice chosen;                        // without gold
  std::optional<MapChoice> best;           // with gold
};

// `statistics` must not be empty. Throws as choose_map() does.
RankedMaps rank_maps(std::vector<HeadStatistics> statistics, const AlignOptions& options);

Json ranking_json(const RankedMaps& ranked);

}  // namespace fovea
