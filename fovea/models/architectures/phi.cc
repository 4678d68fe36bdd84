// Phi-1, 1.5 and 2 (Gunasekar et al. 2023, arXiv:2306.11644): attention and feed-forward side by
// side behind one norm, with biases everywhere.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

ParallelBlock load_phi_block(const LayerSource& source, const Config& config,
                             const AttentionSizes& sizes, double epsilon) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const LayerSource parts = source["self_attn"];
  AttentionLayer attention(sizes, load_query_key_value(parts, sizes, /*bias=*/true),
                           load_linear(parts["dense"], sizes.heads * sizes.head_dim, width));
  if (config.get_bool("qk_layernorm", false)) {
    attention.set_head_norms(Norm::layer(parts["q_layernorm"], sizes.head_dim, epsilon),
                             Norm::layer(parts["k_layernorm"], sizes.head_dim, epsilon));
  }
  return {Norm::layer(source["input_layernorm"], width, epsilon), std::move(attention),
          std::nullopt,
          FeedForward(load_linear(source["mlp.fc1"], width, inner),
                      load_linear(source["mlp.fc2"], inner, width),
                      activation_named(config, "hidden_act", "gelu_new"))};
}

std::unique_ptr<Model> build_phi(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"model.", ""}, "embed_tokens.weight");
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const double epsilon = config.get_double("layer_norm_eps", 1e-5);
  const int64_t rotated =
      RotaryEmbedding::rotated_part(config, sizes.head_dim, "partial_rotary_factor", 0.5);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({load_phi_block(base["layers"][i], config, sizes, epsilon)});
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_tokens"], config.get_size("vocab_size"), sizes.width),
      .stack = {{.scale = sizes.scale(), .rotary = {RotaryEmbedding::of(config, rotated)}},
                std::move(layers)},
      .norm = Norm::layer(base["final_layernorm"], sizes.width, epsilon),
      .trained_tokens = config.get_size("max_position_embeddings", 2048)};
  TextHead head = decoder_head(source, parts.words, {.bias = true});
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture phi_architecture() {
  return {.name = "phi",
          .covers = "Phi-1, Phi-1.5, Phi-2",
          .model_types = {"phi"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_phi};
}

}  // namespace fovea
