// One sentence pair as alignments need it: its cross-attention, its words, and what is known about
// the pair without looking at any attention.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/explain/alignment/alignment.h"
#include "fovea/explain/alignment/cross_weights.h"
#include "fovea/explain/alignment/word_alignment.h"

namespace fovea {

struct PairMaps {
  std::vector<CrossLayer> layers;
  PieceWords source;  // words of the columns
  PieceWords target;  // words of the target, which begins after `prefix` inputs
  int64_t prefix = 1;
  // Pairs of pieces that clearly belong together (engine/anchors.h): source position, and target
  // token counted after the prefix.
  Alignment anchors;

  TargetRows rows() const { return {target.pieces(), prefix}; }
  // Throws Error{kInvalidArgument} if it is not there.
  const CrossLayer& layer(int number) const;
};

// `run` must have cross-attention and the axes "source" and "target", divided into words. Throws
// Error{kNotFound}, and Error{kInvalidArgument} if the target is shorter than `prefix`.
PairMaps pair_maps(const Run& run, int64_t prefix, Alignment anchors);

}  // namespace fovea
