// BERT's embeddings and stack, by the names of their weights (Devlin et al. 2019,
// arXiv:1810.04805). RoBERTa and ELECTRA share them.
#pragma once

#include <span>
#include <vector>

#include "fovea/layers/norm_block.h"

namespace fovea {

// norm(word + position + segment)
class BertEmbeddings {
 public:
  // `width` is hidden_size, or embedding_size if that is smaller.
  BertEmbeddings(const LayerSource& source, const Config& config, int64_t width);

  // Segments may be empty: all 0.
  Value operator()(const Pass& pass, std::span<const int64_t> ids,
                   std::span<const int64_t> segments, std::span<const int64_t> positions) const;

  const StoredMatrix& words() const { return words_; }
  int64_t positions() const { return positions_.size(0); }

 private:
  StoredMatrix words_, positions_, segments_;
  Norm norm_;
};

// The blocks of "encoder.layer".
class BertEncoder {
 public:
  BertEncoder(const LayerSource& source, const Config& config);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  Value operator()(const Pass& pass, const Value& x, const AttentionSetting& setting) const;

 private:
  AttentionSizes sizes_;
  std::vector<PostNormBlock> blocks_;
};

}  // namespace fovea
