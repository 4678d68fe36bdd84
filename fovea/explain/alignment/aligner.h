// From the cross-attention of a sentence pair to its word alignment: which map is read, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/alignment/head_ranking.h"
#include "fovea/explain/alignment/pair_maps.h"

namespace fovea {

// What the user fixes; the rest is chosen by choose_map().
struct AlignOptions {
  std::optional<int> layer;
  std::optional<int64_t> head;
  bool mean = false;  // of the layer's heads, or of all heads where no layer is given
  std::optional<TargetReading> reading;
  bool norms = false;  // of what attention brings, not its weights alone
  WordConvention convention = WordConvention::kMerge;
  LinkRule links;
};

// One map of cross-attention: a head, the mean of a layer (no head), or of all heads (no layer).
struct MapChoice {
  std::optional<int> layer;
  std::optional<int64_t> head;
  TargetReading reading = TargetReading::kInput;
  std::string why;        // one sentence for a caption, with its numbers; empty: the user chose
  bool confident = true;  // false: the rule itself says that it had too little to go by
};
// "layer 0, head 4, read by decoder input", "mean of all heads of layer 2, read by ..."
std::string to_string(const MapChoice& choice);

// Without gold: of the candidates that `options` leaves (all heads, unless a mean is asked for),
// the one whose attention lies on the anchors and whose links are the same read in either
// direction: the largest anchor mass times two-way agreement; of equals the larger agreement, then
// the first. Confident with 5 anchors or more, half of them linked, and an agreement of a half.
// Weights rank even where norms are drawn. Throws Error{kInvalidArgument} if nothing is left,
// naming the layers and heads there are.
MapChoice choose_map(std::span<const HeadStatistics> statistics, const AlignOptions& options = {});
// With gold: the lowest AER of the candidates that `options` leaves.
MapChoice best_map_by_gold(std::span<const HeadStatistics> statistics,
                           const AlignOptions& options = {});

// The map's weights (or norms, as shares of each row's sum) between all target tokens and source
// positions.
Matrix map_weights(const PairMaps& pair, const MapChoice& choice, bool norms = false);

struct PairAlignment {
  SoftAlignment words;  // what a figure shows
  Alignment links;      // between words
};
PairAlignment align_pair(const PairMaps& pair, const MapChoice& choice,
                         const AlignOptions& options = {});

}  // namespace fovea
