// BART's embeddings and blocks, by the names of their weights (Lewis et al. 2020,
// arXiv:1910.13461). Marian, mBART, M2M100 and Whisper share them; DETR shares the blocks.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "fovea/layers/encoded_source.h"
#include "fovea/layers/norm_block.h"

namespace fovea {

// norm(scale * word + position)
struct BartEmbeddings {
  StoredMatrix words;
  float scale = 1;
  StoredMatrix positions;
  std::optional<Norm> norm;

  // `input` names the scaled words as an input (numeric_input.h). `places` are rows of the table of
  // positions.
  Value operator()(const Pass& pass, std::string_view input, std::span<const int64_t> ids,
                   std::span<const int64_t> places) const;
};

// How the blocks of these models differ.
struct BartBlockOptions {
  bool norm_first = false;  // norms before each part and after the stack; else after residuals
  bool key_bias = true;
  std::string_view activation = "gelu";  // unless activation_function is given
};

// An encoder's block, with a feed-forward layer of encoder_ffn_dim.
class BartEncoderBlock {
 public:
  BartEncoderBlock(const LayerSource& source, const Config& config, const AttentionSizes& sizes,
                   const BartBlockOptions& options);

  Value operator()(const Pass& pass, SiteId site, const Value& x,
                   const AttentionSetting& setting) const;

 private:
  std::variant<PreNormBlock, PostNormBlock> block_;
};

// A decoder's block, with cross-attention and a feed-forward layer of decoder_ffn_dim.
class BartDecoderBlock {
 public:
  BartDecoderBlock(const LayerSource& source, const Config& config, const AttentionSizes& sizes,
                   const BartBlockOptions& options);

  // `memory` holds the encoder's states.
  Value operator()(const Pass& pass, int layer, const Value& x, const Value& memory,
                   const AttentionSetting& self, const AttentionSetting& cross) const;

 private:
  AttentionLayer attention_;
  Norm attention_norm_;
  AttentionLayer cross_;
  Norm cross_norm_;
  FeedForward feed_forward_;
  Norm output_norm_;
  bool norm_first_;
};

// The blocks "layers.N" of an encoder, sized by d_model, encoder_layers, encoder_attention_heads
// and encoder_ffn_dim.
class BartEncoder {
 public:
  BartEncoder(const LayerSource& source, const Config& config, const BartBlockOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  // `attention_mask` is 0 for padding, or empty.
  Value operator()(const Pass& pass, const Value& x, std::span<const int64_t> attention_mask) const;

 private:
  AttentionSizes sizes_;
  std::vector<BartEncoderBlock> blocks_;
  std::optional<Norm> norm_;
};

// The same for a decoder. Each block has cross-attention to the source.
class BartDecoder {
 public:
  BartDecoder(const LayerSource& source, const Config& config, const BartBlockOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  Value operator()(const Pass& pass, Value x, const EncodedSource& source,
                   std::span<const int64_t> attention_mask) const;

 private:
  AttentionSizes sizes_;
  std::vector<BartDecoderBlock> blocks_;
  std::optional<Norm> norm_;
};

}  // namespace fovea
