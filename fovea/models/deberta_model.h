// DeBERTa and its later versions: BERT's blocks with disentangled attention. The two files of
// architectures say how projections are named and how distances are counted.
#pragma once

#include "fovea/layers/disentangled.h"
#include "fovea/layers/norm_block.h"
#include "fovea/models/text_model.h"

namespace fovea {

// One layer: what it computes, and what it adds to scores.
struct DebertaLayer {
  PostNormBlock block;
  std::optional<DisentangledBias> bias;
};

// A convolution over neighbouring tokens beside the first layer (version 2).
class TokenConvolution {
 public:
  // "conv" and "LayerNorm".
  TokenConvolution(const LayerSource& source, const Config& config, int64_t width, double epsilon);
  // norm(beside + activation(convolution(x))), both without rows of padding.
  Value operator()(const Value& x, const Value& beside, std::span<const int64_t> mask) const;

 private:
  int64_t kernel_;
  ops::Linear linear_;  // of `kernel_` rows side by side
  Activation activation_;
  Norm norm_;
};

struct DebertaParts {
  AttentionSizes sizes;
  double epsilon = 1e-7;
  float scale = 1;  // of scores
  std::optional<RelativePositions> positions;
  std::vector<DebertaLayer> layers;
  std::optional<TokenConvolution> convolution;
};

// Reads the embeddings and the heads that both versions share. `base` is what is below "deberta.".
std::unique_ptr<Model> deberta_model(const ModelSource& source, const LayerSource& base,
                                     DebertaParts parts);

// What both read from config.json alike: sizes, epsilon, scale.
DebertaParts deberta_parts(const Config& config);
// "max_relative_positions", or as many as positions where that is below 1.
int64_t farthest_distance(const Config& config);
// A block whose attention has these projections, by BERT's names.
PostNormBlock load_deberta_block(const LayerSource& source, const Config& config,
                                 const DebertaParts& parts, AttentionLayer attention);

}  // namespace fovea
