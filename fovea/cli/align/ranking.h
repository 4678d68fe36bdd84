// `fovea align --ranking`: the statistics of every map, as a table or as data.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "fovea/ask/alignment.h"
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

std::string ranking_text(const RankedMaps& ranked);
Json ranking_json(const RankedMaps& ranked);

}  // namespace fovea
