// Pairs of pieces of a source and its translation that belong together by themselves, without a
// look at any attention: what the choice of a head is measured by (explain/alignment/aligner.h).
#pragma once

#include <cstdint>
#include <span>

#include "fovea/capture/run.h"
#include "fovea/explain/alignment/alignment.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea {

// Tokens of one side: how they are shown, and their ids.
struct TokenRow {
  std::span<const Position> positions;
  std::span<const int64_t> ids;  // as many
};

// Pairs of places (source, target) in the rows, special tokens left out:
//   the same token but for its case, where it occurs once on each side: names, numbers, marks;
//   each other's nearest neighbours by cosine in `shared_words` [vocabulary, width], the first of
//   equals. An empty table, where encoder and decoder have one each, gives none of these.
// Throws Error{kInvalidArgument} for an id that the table does not have.
Alignment piece_anchors(const TokenRow& source, const TokenRow& target,
                        const StoredMatrix& shared_words);

}  // namespace fovea
