// OLMo 2 (OLMo team 2024, arXiv:2501.00656): norms of what each part gives, none of what it reads,
// and norms of all queries and all keys together.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

ResultNormBlock load_olmo2_block(const LayerSource& source, const Config& config,
                                 const AttentionSizes& sizes, double epsilon) {
  const bool bias = config.get_bool("attention_bias", false);
  const LayerSource parts = source["self_attn"];
  const int64_t queries = sizes.heads * sizes.head_dim, keys = sizes.kv_heads * sizes.head_dim;
  AttentionLayer attention(sizes, load_query_key_value(parts, sizes, bias),
                           load_linear(parts["o_proj"], queries, sizes.width, bias));
  attention.set_row_norms(Norm::rms(parts["q_norm"], queries, epsilon),
                          Norm::rms(parts["k_norm"], keys, epsilon));
  return {{std::nullopt, Norm::rms(source["post_attention_layernorm"], sizes.width, epsilon)},
          std::move(attention),
          {std::nullopt, Norm::rms(source["post_feedforward_layernorm"], sizes.width, epsilon)},
          GatedFeedForward(source["mlp"], sizes.width, config.get_size("intermediate_size"),
                           activation_named(config, "hidden_act", "silu"), /*bias=*/false)};
}

std::unique_ptr<Model> build_olmo2(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"model.", ""}, "embed_tokens.weight");
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const double epsilon = config.get_double("rms_norm_eps", 1e-5);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({load_olmo2_block(base["layers"][i], config, sizes, epsilon)});
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_tokens"], config.get_size("vocab_size"), sizes.width),
      .stack = {{.scale = sizes.scale(), .rotary = {RotaryEmbedding::of(config, sizes.head_dim)}},
                std::move(layers)},
      .norm = Norm::rms(base["norm"], sizes.width, epsilon),
      .trained_tokens = config.get_size("max_position_embeddings", 2048)};
  TextHead head = decoder_head(source, parts.words);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture olmo2_architecture() {
  return {.name = "olmo2",
          .covers = "OLMo 2",
          .model_types = {"olmo2"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_olmo2};
}

}  // namespace fovea
