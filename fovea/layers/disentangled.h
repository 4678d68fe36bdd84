// Disentangled attention: scores of content, of content with the distance, and of the distance with
// content (DeBERTa, He et al. 2021, arXiv:2006.03654 and 2111.09543).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/layers/norm.h"

namespace fovea {

// The table of distances that all layers share, "rel_embeddings".
class RelativePositions {
 public:
  // Without `buckets` (0) each distance up to `farthest` has an entry of its own; with them far
  // ones share.
  RelativePositions(const LayerSource& source, int64_t width, int64_t buckets, int64_t farthest,
                    std::optional<Norm> norm);

  // The entries that a text of so many tokens needs.
  struct Entries {
    Tensor rows;                 // f32 [entries, width]
    std::vector<int32_t> index;  // of distance j - i, as PositionTables has it
  };
  Entries entries(int64_t tokens) const;

  int64_t span() const { return span_; }

 private:
  int64_t entry_of(int64_t ahead) const;  // of a key so far before its query

  int64_t buckets_, farthest_, span_;
  StoredMatrix table_;
  std::optional<Norm> norm_;
};

// What a layer makes of these entries. Either projection may be missing.
class DisentangledBias {
 public:
  DisentangledBias(int64_t heads, std::optional<ops::Linear> keys,
                   std::optional<ops::Linear> queries)
      : heads_(heads), keys_(std::move(keys)), queries_(std::move(queries)) {}

  PositionTables operator()(const RelativePositions::Entries& entries) const;

 private:
  int64_t heads_;
  std::optional<ops::Linear> keys_, queries_;
};

// Which terms beside content there are: "pos_att_type", a list or parts between "|".
struct DisentangledTerms {
  bool content_to_position = false;
  bool position_to_content = false;

  static DisentangledTerms of(const Config& config);
  int count() const { return (content_to_position ? 1 : 0) + (position_to_content ? 1 : 0); }
};

}  // namespace fovea
