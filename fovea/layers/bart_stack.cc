#include "fovea/layers/bart_stack.h"

#include "fovea/layers/text_mask.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr double kNormEpsilon = 1e-5;  // no configuration of these models says another

AttentionLayer load_attention(const LayerSource& source, const AttentionSizes& sizes,
                              const BartBlockOptions& options) {
  const int64_t width = sizes.width;
  return AttentionLayer(sizes,
                        {load_linear(source["q_proj"], width, width),
                         load_linear(source["k_proj"], width, width, options.key_bias),
                         load_linear(source["v_proj"], width, width)},
                        load_linear(source["out_proj"], width, width));
}

FeedForward load_feed_forward(const LayerSource& source, const Config& config, int64_t width,
                              std::string_view inner_key, const BartBlockOptions& options) {
  const int64_t inner = config.get_size(inner_key);
  return FeedForward(load_linear(source["fc1"], width, inner),
                     load_linear(source["fc2"], inner, width),
                     activation_named(config, "activation_function", options.activation));
}

Norm load_norm(const LayerSource& source, int64_t width) {
  return Norm::layer(source, width, kNormEpsilon);
}

std::optional<Norm> last_norm(const LayerSource& source, int64_t width,
                              const BartBlockOptions& options) {
  if (!options.norm_first) return {};
  return load_norm(source["layer_norm"], width);
}

}  // namespace

Value BartEmbeddings::operator()(std::span<const int64_t> ids,
                                 std::span<const int64_t> places) const {
  Value x = ops::embedding(words, ids);
  if (scale != 1) x = ops::scale(x, scale);
  x = ops::add(x, ops::embedding(positions, places));
  return norm ? (*norm)(x) : x;
}

BartEncoder::BartEncoder(const LayerSource& source, const Config& config,
                         const BartBlockOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "encoder_attention_heads")),
      norm_first_(options.norm_first),
      norm_(last_norm(source, sizes_.width, options)) {
  const int64_t layers = layer_count(config, "encoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    const LayerSource block = source["layers"][i];
    blocks_.push_back({load_attention(block["self_attn"], sizes_, options),
                       load_norm(block["self_attn_layer_norm"], sizes_.width),
                       load_feed_forward(block, config, sizes_.width, "encoder_ffn_dim", options),
                       load_norm(block["final_layer_norm"], sizes_.width)});
  }
}

Value BartEncoder::operator()(const Pass& pass, Value x,
                              std::span<const int64_t> attention_mask) const {
  const auto rule = text_rule(pass, sizes_.scale(), {.attention = attention_mask});
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const SiteId site{SiteKind::kEncoderSelf, static_cast<int>(i)};
    if (norm_first_) {
      x = block.attention(pass, site, block.attention_norm(x), {.rule = rule}, x);
      x = block.feed_forward(block.output_norm(x), x);
    } else {
      x = block.attention_norm(
          block.attention(pass, site, x, {.rule = rule}, x, &block.attention_norm));
      x = block.output_norm(block.feed_forward(x, x));
    }
  }
  return norm_ ? (*norm_)(x) : x;
}

BartDecoder::BartDecoder(const LayerSource& source, const Config& config,
                         const BartBlockOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "decoder_attention_heads")),
      norm_first_(options.norm_first),
      norm_(last_norm(source, sizes_.width, options)) {
  const int64_t layers = layer_count(config, "decoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    const LayerSource block = source["layers"][i];
    blocks_.push_back({load_attention(block["self_attn"], sizes_, options),
                       load_norm(block["self_attn_layer_norm"], sizes_.width),
                       load_attention(block["encoder_attn"], sizes_, options),
                       load_norm(block["encoder_attn_layer_norm"], sizes_.width),
                       load_feed_forward(block, config, sizes_.width, "decoder_ffn_dim", options),
                       load_norm(block["final_layer_norm"], sizes_.width)});
  }
}

Value BartDecoder::run_block(const Block& block, const Pass& pass, int layer, const Value& x,
                             const EncodedSource& source,
                             const std::shared_ptr<const ScoreRule>& causal_rule,
                             const std::shared_ptr<const ScoreRule>& cross_rule) const {
  const SiteId self{SiteKind::kDecoderSelf, layer}, cross{SiteKind::kCross, layer};
  if (norm_first_) {
    const Value own =
        block.attention(pass, self, block.attention_norm(x), {.rule = causal_rule}, x);
    const Value both =
        block.cross.cross(pass, cross, block.cross_norm(own), source.states, cross_rule, own);
    return block.feed_forward(block.output_norm(both), both);
  }
  const Value own = block.attention_norm(
      block.attention(pass, self, x, {.rule = causal_rule}, x, &block.attention_norm));
  const Value both = block.cross_norm(
      block.cross.cross(pass, cross, own, source.states, cross_rule, own, &block.cross_norm));
  return block.output_norm(block.feed_forward(both, both));
}

Value BartDecoder::operator()(const Pass& pass, Value x, const EncodedSource& source,
                              std::span<const int64_t> attention_mask) const {
  const auto causal_rule =
      text_rule(pass, sizes_.scale(), {.causal = true, .attention = attention_mask});
  const auto cross_rule = source_rule(sizes_.scale(), source.attention_mask);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = run_block(blocks_[i], pass, static_cast<int>(i), x, source, causal_rule, cross_rule);
  }
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace fovea
