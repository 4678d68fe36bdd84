// Llama's stack, which Mistral and Qwen share: RMS norms before each part, rotary positions,
// grouped keys, a gated feed-forward part (Touvron et al. 2023, arXiv:2302.13971).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fovea/layers/norm_block.h"
#include "fovea/layers/rotary_embedding.h"

namespace fovea {

// How the models differ.
struct RopeDecoderOptions {
  bool query_key_value_bias = false;
  bool output_bias = false;
  bool feed_forward_bias = false;
  bool head_norms = false;
  std::vector<std::optional<int64_t>> windows;  // one per layer; empty: none anywhere
};

// The blocks "layers.N" and the final "norm", by Llama's names.
class RopeDecoder {
 public:
  RopeDecoder(const LayerSource& source, const Config& config, const RopeDecoderOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  // `attention_mask` is 0 for padding, or empty.
  Value operator()(const Pass& pass, Value x, std::span<const int64_t> attention_mask) const;

 private:
  struct Block {
    PreNormBlock parts;
    std::optional<int64_t> window;
  };
  Block load_block(const LayerSource& source, const Config& config,
                   const RopeDecoderOptions& options, size_t index) const;

  AttentionSizes sizes_;
  RotaryEmbedding rotary_;
  std::vector<Block> blocks_;
  Norm norm_;
};

// Each layer's window, from layer_types and sliding_window; "full_attention" layers have none.
// Without layer_types, all layers have `otherwise`.
std::vector<std::optional<int64_t>> layer_windows(
    const Config& config, const std::vector<std::optional<int64_t>>& otherwise);
// The same, but without layer_types Qwen's use_sliding_window and max_window_layers decide.
std::vector<std::optional<int64_t>> upper_layer_windows(const Config& config);

}  // namespace fovea
