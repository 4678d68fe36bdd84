#include "fovea/layers/bart_stack.h"

#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr double kBartNormEpsilon = 1e-5;  // no configuration of these models says another

AttentionLayer load_bart_attention(const LayerSource& source, const AttentionSizes& sizes,
                                   const BartBlockOptions& options) {
  const int64_t width = sizes.width;
  return AttentionLayer(sizes,
                        {load_linear(source["q_proj"], width, width),
                         load_linear(source["k_proj"], width, width, options.key_bias),
                         load_linear(source["v_proj"], width, width)},
                        load_linear(source["out_proj"], width, width));
}

FeedForward load_bart_feed_forward(const LayerSource& source, const Config& config, int64_t width,
                                   std::string_view inner_key, const BartBlockOptions& options) {
  const int64_t inner = config.get_size(inner_key);
  return FeedForward(load_linear(source["fc1"], width, inner),
                     load_linear(source["fc2"], inner, width),
                     activation_named(config, "activation_function", options.activation));
}

Norm load_bart_norm(const LayerSource& source, int64_t width) {
  return Norm::layer(source, width, kBartNormEpsilon);
}

using AnyNormBlock = std::variant<PreNormBlock, PostNormBlock>;

AnyNormBlock load_encoder_block(const LayerSource& source, const Config& config,
                                const AttentionSizes& sizes, const BartBlockOptions& options) {
  AttentionLayer attention = load_bart_attention(source["self_attn"], sizes, options);
  Norm attention_norm = load_bart_norm(source["self_attn_layer_norm"], sizes.width);
  FeedForward feed_forward =
      load_bart_feed_forward(source, config, sizes.width, "encoder_ffn_dim", options);
  Norm output_norm = load_bart_norm(source["final_layer_norm"], sizes.width);
  if (options.norm_first) {
    return AnyNormBlock(std::in_place_type<PreNormBlock>, std::move(attention_norm),
                        std::move(attention), std::move(output_norm), std::move(feed_forward));
  }
  return AnyNormBlock(std::in_place_type<PostNormBlock>, std::move(attention),
                      std::move(attention_norm), std::move(feed_forward), std::move(output_norm));
}

std::optional<Norm> last_norm(const LayerSource& source, int64_t width,
                              const BartBlockOptions& options) {
  if (!options.norm_first) return {};
  return load_bart_norm(source["layer_norm"], width);
}

}  // namespace

Value BartEmbeddings::operator()(const Pass& pass, std::string_view input,
                                 std::span<const int64_t> ids,
                                 std::span<const int64_t> places) const {
  const Value x =
      ops::add(embed_words(pass, input, words, ids, scale), ops::embedding(positions, places));
  return norm ? (*norm)(x) : x;
}

BartEncoderBlock::BartEncoderBlock(const LayerSource& source, const Config& config,
                                   const AttentionSizes& sizes, const BartBlockOptions& options)
    : block_(load_encoder_block(source, config, sizes, options)) {}

Value BartEncoderBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                   const AttentionSetting& setting) const {
  return std::visit([&](const auto& block) { return block(pass, site, x, setting); }, block_);
}

BartDecoderBlock::BartDecoderBlock(const LayerSource& source, const Config& config,
                                   const AttentionSizes& sizes, const BartBlockOptions& options)
    : attention_(load_bart_attention(source["self_attn"], sizes, options)),
      attention_norm_(load_bart_norm(source["self_attn_layer_norm"], sizes.width)),
      cross_(load_bart_attention(source["encoder_attn"], sizes, options)),
      cross_norm_(load_bart_norm(source["encoder_attn_layer_norm"], sizes.width)),
      feed_forward_(
          load_bart_feed_forward(source, config, sizes.width, "decoder_ffn_dim", options)),
      output_norm_(load_bart_norm(source["final_layer_norm"], sizes.width)),
      norm_first_(options.norm_first) {}

Value BartDecoderBlock::operator()(const Pass& pass, int layer, const Value& x, const Value& memory,
                                   const AttentionSetting& self,
                                   const AttentionSetting& cross) const {
  const SiteId self_site{SiteKind::kDecoderSelf, layer}, cross_site{SiteKind::kCross, layer};
  if (norm_first_) {
    const Value own = attention_(pass, self_site, attention_norm_(x), self, x);
    const Value both = cross_.cross(pass, cross_site, cross_norm_(own), memory, cross, own);
    return feed_forward_(output_norm_(both), both, known_output(pass));
  }
  const Value own = attention_norm_(attention_(pass, self_site, x, self, x, &attention_norm_));
  const Value both =
      cross_norm_(cross_.cross(pass, cross_site, own, memory, cross, own, &cross_norm_));
  return output_norm_(feed_forward_(both, both));
}

BartEncoder::BartEncoder(const LayerSource& source, const Config& config,
                         const BartBlockOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "encoder_attention_heads")),
      norm_(last_norm(source, sizes_.width, options)) {
  const int64_t layers = layer_count(config, "encoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.emplace_back(source["layers"][i], config, sizes_, options);
  }
}

Value BartEncoder::operator()(const Pass& pass, const Value& x,
                              std::span<const int64_t> attention_mask) const {
  const auto rule = text_rule(pass, sizes_.scale(), {.attention = attention_mask});
  const Value states = run_blocks(blocks_, pass, SiteKind::kEncoderSelf, x, {.rule = rule});
  return norm_ ? (*norm_)(states) : states;
}

BartDecoder::BartDecoder(const LayerSource& source, const Config& config,
                         const BartBlockOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "decoder_attention_heads")),
      norm_(last_norm(source, sizes_.width, options)) {
  const int64_t layers = layer_count(config, "decoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.emplace_back(source["layers"][i], config, sizes_, options);
  }
}

Value BartDecoder::operator()(const Pass& pass, Value x, const EncodedSource& source,
                              std::span<const int64_t> attention_mask) const {
  const auto causal_rule =
      text_rule(pass, sizes_.scale(), {.causal = true, .attention = attention_mask});
  const auto cross_rule = source_rule(sizes_.scale(), source.attention_mask);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = run_block(pass, x, source.states,
                  [block = &blocks_[i], i, causal_rule, cross_rule](
                      const Pass& run, const Value& in, const Value& memory) {
                    return (*block)(run, static_cast<int>(i), in, memory, {.rule = causal_rule},
                                    {.rule = cross_rule});
                  });
  }
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace fovea
