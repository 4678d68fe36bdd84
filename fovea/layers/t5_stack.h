// T5's blocks, by the names of their weights (Raffel et al. 2020, arXiv:1910.10683): RMS norms
// before each part, no biases, scores without a scale. The only positions are a bias of the scores
// that depends on distance.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/encoded_source.h"

namespace fovea {

// "relative_attention_bias": one number for each head and bucket of distances.
class T5DistanceBias {
 public:
  // Throws Error{kBadFile} for bucket counts that T5's formula has no answer for.
  T5DistanceBias(const LayerSource& source, const Config& config, int64_t heads,
                 bool bidirectional);

  // The bias of this pass's `tokens` rows with everything so far.
  DistanceTable operator()(const Pass& pass, int64_t tokens) const;

 private:
  Tensor values_;  // [heads, buckets]
  int buckets_, max_distance_;
  bool bidirectional_;
};

// How the stacks differ.
struct T5StackOptions {
  SiteKind site = SiteKind::kEncoderSelf;  // kDecoderSelf: causal, with cross-attention
  std::string_view layers_key = "num_layers";
  bool bias_per_layer = false;             // else all layers share the first layer's
  std::string_view feed_forward = "relu";  // unless feed_forward_proj is given
};

// The blocks "block.N" and "final_layer_norm", sized by d_model, num_heads, d_kv and d_ff.
class T5Stack {
 public:
  T5Stack(const LayerSource& source, const Config& config, const T5StackOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  // `attention_mask` is 0 for padding, or empty. A decoder needs `source`.
  Value operator()(const Pass& pass, Value x, std::span<const int64_t> attention_mask,
                   const EncodedSource* source = nullptr) const;

 private:
  // Of "layer.0", "layer.1" ...: a part and the norm before it.
  struct Cross {
    Norm norm;
    AttentionLayer attention;
  };
  struct Block {
    Norm attention_norm;
    AttentionLayer attention;
    std::optional<T5DistanceBias> bias;  // none: the first block's
    std::optional<Cross> cross;
    Norm output_norm;
    std::function<Value(const Value& x, const Value& residual)> feed_forward;
  };
  Block load_block(const LayerSource& source, const Config& config, const T5StackOptions& options,
                   bool is_first) const;
  Value run_layer(const Pass& pass, int layer, const Value& x, const Value& memory,
                  const std::shared_ptr<const ScoreRule>& rule,
                  const std::shared_ptr<const ScoreRule>& cross_rule) const;
  bool is_decoder() const { return site_ == SiteKind::kDecoderSelf; }

  SiteKind site_;
  AttentionSizes sizes_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace fovea
