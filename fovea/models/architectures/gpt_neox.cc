// GPT-NeoX and Pythia (Black et al. 2022, arXiv:2204.06745): rotary positions on a part of each
// head, attention and feed-forward side by side.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

struct NeoXBlocks {
  AttentionSizes sizes;
  double epsilon;

  AnyBlock load(const LayerSource& source, const Config& config) const {
    const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
    const bool bias = config.get_bool("attention_bias", true);
    AttentionLayer attention(
        sizes, {load_linear(source["attention.query_key_value"], width, 3 * width, bias)},
        load_linear(source["attention.dense"], width, width, bias));
    attention.set_grouped_projection();
    Norm attention_norm = Norm::layer(source["input_layernorm"], width, epsilon);
    Norm feed_forward_norm = Norm::layer(source["post_attention_layernorm"], width, epsilon);
    FeedForward feed_forward(load_linear(source["mlp.dense_h_to_4h"], width, inner),
                             load_linear(source["mlp.dense_4h_to_h"], inner, width),
                             activation_named(config, "hidden_act", "gelu"));
    if (config.get_bool("use_parallel_residual", true)) {
      return ParallelBlock(std::move(attention_norm), std::move(attention),
                           std::move(feed_forward_norm), std::move(feed_forward));
    }
    return PreNormBlock(std::move(attention_norm), std::move(attention),
                        std::move(feed_forward_norm), std::move(feed_forward));
  }
};

TextHead load_neox_head(const ModelSource& source, const StoredMatrix& words) {
  const LayerSource& all = source.weights;
  if (!source.is("ForCausalLM", "embed_out.weight")) return decoder_head(source, words);
  return word_head(
      HeadKind::kCausalLm,
      WordScores(word_weights(source.config, all, {"embed_out.weight", "lm_head.weight"}, words),
                 {}, all.compute));
}

std::unique_ptr<Model> build_gpt_neox(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"gpt_neox.", ""}, "embed_in.weight");
  const NeoXBlocks blocks{AttentionSizes::equal_heads(config),
                          config.get_double("layer_norm_eps", 1e-5)};
  const AttentionSizes& sizes = blocks.sizes;
  const int64_t rotated = RotaryEmbedding::rotated_part(config, sizes.head_dim, "rotary_pct", 0.25);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({blocks.load(base["layers"][i], config)});
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_in"], config.get_size("vocab_size"), sizes.width),
      .stack = {{.scale = sizes.scale(),
                 .rotary = {RotaryEmbedding::of(config, rotated,
                                                config.get_double("rotary_emb_base", 10000))}},
                std::move(layers)},
      .norm = Norm::layer(base["final_layer_norm"], sizes.width, blocks.epsilon),
      .trained_tokens = config.get_size("max_position_embeddings", 2048)};
  TextHead head = load_neox_head(source, parts.words);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture gpt_neox_architecture() {
  return {.name = "gpt_neox",
          .covers = "GPT-NeoX, Pythia",
          .model_types = {"gpt_neox"},
          .not_needed = {"attention.bias", "attention.masked_bias", "rotary_emb.inv_freq",
                         "embed_out", "lm_head"},
          .build = build_gpt_neox};
}

}  // namespace fovea
