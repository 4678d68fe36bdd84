// BLOOM (BigScience 2022, arXiv:2211.05100): ALiBi, and a norm of the words.
#include "fovea/layers/alibi.h"
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

PreNormBlock load_bloom_block(const LayerSource& source, const Config& config,
                              const AttentionSizes& sizes, double epsilon) {
  const int64_t width = sizes.width, inner = 4 * width;
  const LayerSource parts = source["self_attention"];
  AttentionLayer attention(sizes, {load_linear(parts["query_key_value"], width, 3 * width)},
                           load_linear(parts["dense"], width, width));
  // GGUF files have them one after the other.
  if (!config.get_bool("projections_in_order", false)) attention.set_grouped_projection();
  PreNormBlock block(
      Norm::layer(source["input_layernorm"], width, epsilon), std::move(attention),
      Norm::layer(source["post_attention_layernorm"], width, epsilon),
      FeedForward(load_linear(source["mlp.dense_h_to_4h"], width, inner),
                  load_linear(source["mlp.dense_4h_to_h"], inner, width), Activation::kGeluTanh));
  if (config.get_bool("apply_residual_connection_post_layernorm", false)) block.add_to_norms();
  return block;
}

std::unique_ptr<Model> build_bloom(const ModelSource& source) {
  const Config& config = source.config;
  const auto key = [&](std::string_view first, std::string_view other) {
    return config.has(first) ? first : other;
  };
  const LayerSource base =
      source.weights.below_one_of({"transformer.", ""}, "word_embeddings.weight");
  const AttentionSizes sizes = AttentionSizes::equal_heads(config, key("n_embed", "hidden_size"),
                                                           key("n_head", "num_attention_heads"));
  const double epsilon = config.get_double("layer_norm_epsilon", 1e-5);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config, key("n_layer", "num_hidden_layers")); ++i) {
    layers.push_back({load_bloom_block(base["h"][i], config, sizes, epsilon)});
  }
  TextScores scores{.scale = sizes.scale()};
  scores.bias = [slopes = alibi_slopes(sizes.heads)](const Pass& pass, int64_t tokens,
                                                     std::span<const int64_t> mask) {
    return alibi_bias(slopes, pass, tokens, mask);
  };
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["word_embeddings"], config.get_size("vocab_size"), sizes.width),
      .words_norm = Norm::layer(base["word_embeddings_layernorm"], sizes.width, epsilon),
      .stack = {std::move(scores), std::move(layers)},
      .norm = Norm::layer(base["ln_f"], sizes.width, epsilon),
      .trained_tokens = config.has("seq_length") ? config.get_size("seq_length") : 0};
  TextHead head = decoder_head(source, parts.words);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture bloom_architecture() {
  return {.name = "bloom",
          .covers = "BLOOM, BLOOMZ",
          .model_types = {"bloom"},
          .not_needed = {"lm_head"},
          .build = build_bloom};
}

}  // namespace fovea
