// Pairs of tokens of a source and its translation that clearly belong together, found without
// looking at any attention. explain/alignment/aligner.h measures by them which head aligns.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/capture/run.h"
#include "fovea/explain/alignment/alignment.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea {

// The tokens of one side: how they are shown, and their ids.
struct TokenRow {
  std::span<const Position> positions;
  std::span<const int64_t> ids;  // one per position
};

// Finds pairs of places (source, target) in the rows. Special tokens are left out. Two kinds count:
//   the same token but for its case, if it occurs once on each side: names, numbers, marks;
//   tokens that are each other's nearest neighbours by cosine in `shared_words` [vocabulary,
//   width]; of equals the first. The table is empty if encoder and decoder have one each; then
//   there are none of these.
// Throws Error{kInvalidArgument} for an id that the table does not have.
Alignment piece_anchors(const TokenRow& source, const TokenRow& target,
                        const StoredMatrix& shared_words);

}  // namespace fovea
