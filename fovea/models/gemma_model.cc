#include "fovea/models/gemma_model.h"

#include <cmath>

namespace fovea {
namespace {

constexpr float kNormOffset = 1;  // norms are stored less 1

Norm load_gemma_norm(const LayerSource& source, const Config& config, int64_t width) {
  return Norm::rms(source, width, config.get_double("rms_norm_eps", 1e-6), kNormOffset);
}

ResultNormBlock load_gemma_block(const LayerSource& source, const Config& config,
                                 const AttentionSizes& sizes, bool head_norms) {
  const int64_t width = sizes.width, dim = sizes.head_dim;
  const bool bias = config.get_bool("attention_bias", false);
  const LayerSource parts = source["self_attn"];
  AttentionLayer attention(sizes, load_query_key_value(parts, sizes, bias),
                           load_linear(parts["o_proj"], sizes.heads * dim, width, bias));
  if (head_norms) {
    attention.set_head_norms(load_gemma_norm(parts["q_norm"], config, dim),
                             load_gemma_norm(parts["k_norm"], config, dim));
  }
  const auto norm = [&](std::string_view name) {
    return load_gemma_norm(source[name], config, width);
  };
  return {{norm("input_layernorm"), norm("post_attention_layernorm")},
          std::move(attention),
          {norm("pre_feedforward_layernorm"), norm("post_feedforward_layernorm")},
          GatedFeedForward(source["mlp"], width, config.get_size("intermediate_size"),
                           activation_named(config, "hidden_activation", "gelu_pytorch_tanh"),
                           /*bias=*/false)};
}

}  // namespace

std::unique_ptr<Model> gemma_model(const ModelSource& source, const LayerSource& base,
                                   GemmaOptions options) {
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  std::vector<TextLayer> layers;
  for (size_t i = 0; i < options.reaches.size(); ++i) {
    const auto reach = options.reaches[i];
    layers.push_back({.block = load_gemma_block(base["layers"][static_cast<int64_t>(i)], config,
                                                sizes, options.head_norms),
                      .reach = reach,
                      .rotary = reach ? options.scores.rotary.size() - 1 : 0});
  }
  options.scores.scale =
      static_cast<float>(1 / std::sqrt(positive_number(config, "query_pre_attn_scalar", 256)));
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_tokens"], config.get_size("vocab_size", options.vocabulary),
                          sizes.width),
      .words_scale = std::sqrt(static_cast<float>(sizes.width)),
      .stack = {std::move(options.scores), std::move(layers)},
      .norm = load_gemma_norm(base["norm"], config, sizes.width),
      .trained_tokens = config.get_size("max_position_embeddings", options.trained_tokens)};
  TextHead head = decoder_head(source, parts.words, options.head);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace fovea
