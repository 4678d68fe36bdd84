// Turns the cross-attention of a sentence pair into its word alignment: decides which map to read,
// and how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/alignment/head_ranking.h"
#include "fovea/explain/alignment/pair_maps.h"

namespace fovea {

// What the user fixes. choose_map() chooses the rest.
struct AlignOptions {
  std::optional<int> layer;
  std::optional<int64_t> head;
  bool mean = false;  // of the layer's heads, or of all heads without a layer
  std::optional<TargetReading> reading;
  bool norms = false;  // read norms of what attention brings, not only weights
  WordConvention convention = WordConvention::kMerge;
  LinkRule links;
};

// One map of cross-attention: a head, the mean of a layer (no head), or the mean of all heads (no
// layer).
struct MapChoice {
  std::optional<int> layer;
  std::optional<int64_t> head;
  TargetReading reading = TargetReading::kInput;
  std::string why;        // a sentence for a caption, with its numbers; empty: the user chose
  bool confident = true;  // false: the rule had too little to go by
};
// "layer 0, head 4, read by decoder input", "mean of all heads of layer 2, read by ..."
std::string to_string(const MapChoice& choice);

// Chooses a map without gold links, among the candidates that `options` leaves (all heads, unless a
// mean is asked for). A good map has its attention on the anchors, and its links are the same in
// both reading directions. So it takes the map with the largest anchor mass times two-way
// agreement; of equals the larger agreement, then the first. It is confident with 5 anchors or
// more, half of them linked, and an agreement of a half. Weights rank the maps even if norms are
// drawn. Throws Error{kInvalidArgument} if nothing is left, naming the layers and heads there are.
MapChoice choose_map(std::span<const HeadStatistics> statistics, const AlignOptions& options = {});
// Chooses a map with gold links: the candidate with the lowest AER.
MapChoice best_map_by_gold(std::span<const HeadStatistics> statistics,
                           const AlignOptions& options = {});

// The map's weights between all target tokens and source positions; or its norms, as shares of each
// row's sum.
Matrix map_weights(const PairMaps& pair, const MapChoice& choice, bool norms = false);

struct PairAlignment {
  SoftAlignment words;  // what a figure shows
  Alignment links;      // between words
};
PairAlignment align_pair(const PairMaps& pair, const MapChoice& choice,
                         const AlignOptions& options = {});

}  // namespace fovea
