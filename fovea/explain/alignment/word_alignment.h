// Turns weights between pieces of words into links between words, by either published convention.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/base/names.h"
#include "fovea/capture/run.h"
#include "fovea/explain/alignment/hard_links.h"

namespace fovea {

// Which word each position is a piece of; -1 if it is none (the end of sentence).
struct PieceWords {
  std::vector<int64_t> word;
  int64_t words = 0;  // above every entry

  // Takes the largest entry plus one as the number of words. Throws Error{kInvalidArgument} on an
  // entry below -1 or far beyond the number of pieces.
  static PieceWords from(std::vector<int64_t> word);
  // Reads them off the axis; special positions belong to no word.
  static PieceWords of(const Axis& axis);

  int64_t pieces() const { return static_cast<int64_t>(word.size()); }
};

// The positions that are pieces of words: the units of piece_weights() in their order.
std::vector<int64_t> kept_positions(const PieceWords& pieces);

enum class WordConvention {
  // Links between pieces first, then every pair of words that such a link joins (Garg et al. 2019,
  // arXiv:1909.02074; Chen et al. 2020, arXiv:2004.14837, who let no special position compete).
  kUnion,
  // Weights first: summed over the pieces of a source word, averaged over those of a target word;
  // then links between words (Kobayashi et al. 2020, arXiv:2004.10102; Ferrando et al. 2022,
  // arXiv:2205.11631).
  kMerge,
};

inline constexpr NameTable<WordConvention, 2> kWordConventions{
    "way from pieces to words",
    {{WordConvention::kUnion, "union"}, {WordConvention::kMerge, "merge"}}};
inline std::string_view to_string(WordConvention convention) {
  return kWordConventions.name_of(convention);
}

// In all of these, `weights` is [target pieces, source positions]. Each throws
// Error{kInvalidArgument} unless it fits the pieces.

// The weights without rows and columns of special positions. Units are pieces in their order.
SoftAlignment piece_weights(const Matrix& weights, const PieceWords& source,
                            const PieceWords& target);
// The weights between words by kMerge: what a map of words shows. A word without pieces has 0.
SoftAlignment word_weights(const Matrix& weights, const PieceWords& source,
                           const PieceWords& target);
// Links between words.
Alignment word_links(const Matrix& weights, const PieceWords& source, const PieceWords& target,
                     WordConvention convention, const LinkRule& rule = {});

}  // namespace fovea
