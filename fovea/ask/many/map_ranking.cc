#include "fovea/ask/many/map_ranking.h"

#include <algorithm>
#include <functional>

#include "fovea/ask/alignment.h"

namespace fovea {
namespace {

Json head_json(const HeadStatistics& one) {
  Json json = Json::object({{"layer", number_or_null(one.candidate.layer)},
                            {"head", number_or_null(one.candidate.head)},
                            {"reading", kTargetReadings.name_of(one.candidate.reading)},
                            {"score", one.score()},
                            {"anchor_mass", one.anchor_mass},
                            {"anchor_hits", one.anchor_hits},
                            {"two_way", one.two_way},
                            {"entropy", one.entropy},
                            {"confidence", one.confidence},
                            {"special_mass", one.special_mass},
                            {"diagonality", one.diagonality},
                            {"agreement", one.agreement},
                            {"source_coverage", one.source_coverage},
                            {"target_coverage", one.target_coverage}});
  if (one.head_norm) json.set("head_norm", *one.head_norm);
  if (one.layer_norm) json.set("layer_norm", *one.layer_norm);
  if (one.gold) {
    json.set("aer", one.gold->aer());
    json.set("precision", one.gold->precision());
    json.set("recall", one.gold->recall());
  }
  return json;
}

}  // namespace

RankedMaps rank_maps(std::vector<HeadStatistics> statistics, const AlignOptions& options) {
  RankedMaps ranked;
  ranked.chosen = choose_map(statistics, options);
  if (statistics.front().gold) ranked.best = best_map_by_gold(statistics, options);
  std::ranges::stable_sort(statistics, std::greater<>(), &HeadStatistics::score);
  ranked.statistics = std::move(statistics);
  return ranked;
}

Json ranking_json(const RankedMaps& ranked) {
  const HeadStatistics& any = ranked.statistics.front();
  Json json = Json::object({{"sentences", any.sentences},
                            {"target_pieces", any.target_pieces},
                            {"anchors", any.anchors},
                            {"chosen", to_json(ranked.chosen)}});
  if (ranked.best) json.set("best_by_gold", to_json(*ranked.best));
  Json maps = Json::array();
  for (const HeadStatistics& one : ranked.statistics) maps.push_back(head_json(one));
  json.set("maps", std::move(maps));
  return json;
}

}  // namespace fovea
