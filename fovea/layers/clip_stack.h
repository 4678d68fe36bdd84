// CLIP's blocks and text embeddings, by the names of their weights (Radford et al. 2021,
// arXiv:2103.00020). SigLIP shares them.
#pragma once

#include <vector>

#include "fovea/layers/norm_block.h"

namespace fovea {

// The blocks "encoder.layers.N" of a tower, sized by hidden_size, num_hidden_layers,
// num_attention_heads and intermediate_size.
struct ClipStack {
  ClipStack(const LayerSource& source, const Config& config);

  AttentionSizes sizes;
  std::vector<PreNormBlock> blocks;
};

// Loads "fc1" and "fc2".
FeedForward load_clip_feed_forward(const LayerSource& source, const Config& config, int64_t width);

// The "embeddings" of a text tower: words and positions.
struct ClipTextEmbeddings {
  ClipTextEmbeddings(const LayerSource& source, const Config& config);

  Value operator()(const Pass& pass, std::span<const int64_t> ids) const;

  StoredMatrix words, positions;
};

}  // namespace fovea
