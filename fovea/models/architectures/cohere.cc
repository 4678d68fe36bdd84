// Command R (Cohere 2024): attention and feed-forward side by side behind one norm without bias,
// and rotary positions of neighbouring numbers.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

ParallelBlock load_cohere_block(const LayerSource& source, const Config& config,
                                const AttentionSizes& sizes, double epsilon) {
  const bool bias = config.get_bool("attention_bias", false);
  const LayerSource parts = source["self_attn"];
  AttentionLayer attention(
      sizes, load_query_key_value(parts, sizes, bias),
      load_linear(parts["o_proj"], sizes.heads * sizes.head_dim, sizes.width, bias));
  if (config.get_bool("use_qk_norm", false)) {
    attention.set_row_norms(
        Norm::layer_of_heads(parts["q_norm"], sizes.heads, sizes.head_dim, epsilon),
        Norm::layer_of_heads(parts["k_norm"], sizes.kv_heads, sizes.head_dim, epsilon));
  }
  return {Norm::layer(source["input_layernorm"], sizes.width, epsilon, /*bias=*/false),
          std::move(attention), std::nullopt,
          GatedFeedForward(source["mlp"], sizes.width, config.get_size("intermediate_size"),
                           activation_named(config, "hidden_act", "silu"), /*bias=*/false)};
}

std::unique_ptr<Model> build_cohere(const ModelSource& source) {
  constexpr double kBase = 500000;  // if config.json does not say
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"model.", ""}, "embed_tokens.weight");
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const double epsilon = config.get_double("layer_norm_eps", 1e-5);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({load_cohere_block(base["layers"][i], config, sizes, epsilon)});
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_tokens"], config.get_size("vocab_size"), sizes.width),
      .stack = {{.scale = sizes.scale(),
                 .rotary = {RotaryEmbedding::of(config, sizes.head_dim, kBase)},
                 .pairing = RotaryPairing::kNeighbours},
                std::move(layers)},
      .norm = Norm::layer(base["norm"], sizes.width, epsilon, /*bias=*/false),
      .trained_tokens = config.get_size("max_position_embeddings", 8192)};
  const auto scale = static_cast<float>(positive_number(config, "logit_scale", 0.0625));
  TextHead head = decoder_head(source, parts.words, {.scale = scale});
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture cohere_architecture() {
  return {.name = "cohere",
          .covers = "Command R, Aya 23",
          .model_types = {"cohere"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_cohere};
}

}  // namespace fovea
