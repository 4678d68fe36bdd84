// Falcon (Almazrouei et al. 2023, arXiv:2311.16867): attention and feed-forward side by side or one
// after the other, one key head for all or for groups, rotary positions or ALiBi.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/alibi.h"
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

// What config.json says of the form.
struct FalconForm {
  bool is_new = false;  // falcon-40b and later
  bool parallel = true;
  bool bias = false;
  int norms = 1;  // of a parallel block
  AttentionSizes sizes;
  double epsilon = 1e-5;
};

FalconForm read_form(const Config& config) {
  FalconForm form;
  form.is_new = config.get_bool("new_decoder_architecture", false);
  form.parallel = config.get_bool("parallel_attn", true);
  form.bias = config.get_bool("bias", false);
  form.epsilon = config.get_double("layer_norm_epsilon", 1e-5);
  form.norms = static_cast<int>(config.get_int("num_ln_in_parallel_attn", form.is_new ? 2 : 1));
  if (form.is_new && !form.parallel) {
    fail(ErrorKind::kUnsupported,
         "{}: new_decoder_architecture is true but parallel_attn false; no Falcon is so",
         config.source());
  }
  const auto key = [&](std::string_view first, std::string_view other) {
    return config.has(first) ? first : other;
  };
  form.sizes = AttentionSizes::equal_heads(config, key("n_embed", "hidden_size"),
                                           key("num_attention_heads", "n_head"));
  AttentionSizes& sizes = form.sizes;
  if (form.is_new) {
    sizes.kv_heads = config.get_size("num_kv_heads", sizes.heads);
  } else if (config.get_bool("multi_query", true)) {
    sizes.kv_heads = 1;
  }
  if (sizes.heads % sizes.kv_heads != 0) {
    fail(ErrorKind::kBadFile,
         "{}: num_attention_heads is {} and num_kv_heads {}; the latter must divide the former",
         config.source(), sizes.heads, sizes.kv_heads);
  }
  return form;
}

AnyBlock load_falcon_block(const LayerSource& source, const Config& config,
                           const FalconForm& form) {
  const AttentionSizes& sizes = form.sizes;
  const int64_t width = sizes.width, inner = config.get_size("ffn_hidden_size", 4 * width);
  const LayerSource parts = source["self_attention"];
  AttentionLayer attention(
      sizes,
      {load_linear(parts["query_key_value"], width,
                   (sizes.heads + 2 * sizes.kv_heads) * sizes.head_dim, form.bias)},
      load_linear(parts["dense"], width, width, form.bias));
  // GGUF files have them one after the other.
  if (!config.get_bool("projections_in_order", false)) attention.set_grouped_projection();
  FeedForward feed_forward(load_linear(source["mlp.dense_h_to_4h"], width, inner, form.bias),
                           load_linear(source["mlp.dense_4h_to_h"], inner, width, form.bias),
                           activation_named(config, "activation", "gelu"));
  const auto norm = [&](std::string_view name) {
    return Norm::layer(source[name], width, form.epsilon);
  };
  if (!form.parallel) {
    return PreNormBlock(norm("input_layernorm"), std::move(attention),
                        norm("post_attention_layernorm"), std::move(feed_forward));
  }
  if (form.is_new && form.norms == 2) {
    return ParallelBlock(norm("ln_attn"), std::move(attention), norm("ln_mlp"),
                         std::move(feed_forward));
  }
  return ParallelBlock(norm("input_layernorm"), std::move(attention), std::nullopt,
                       std::move(feed_forward));
}

// Slopes and their products with places are rounded to bf16, in training too. Eager attention of
// transformers adds them twice, within the scores and within the mask (its other attentions once);
// fovea shows what eager attention computes.
ScoreBias falcon_bias(const std::vector<float>& slopes, int64_t head_dim, const Pass& pass,
                      int64_t tokens, std::span<const int64_t> mask) {
  constexpr float kTimesAdded = 2;
  const auto rounded = [](float value) { return to_float(to_bf16(value)); };
  std::vector<float> values;
  const std::vector<int64_t> places = key_places(pass, tokens, mask);
  for (const float slope : slopes) {
    for (const int64_t place : places) {
      values.push_back(kTimesAdded * rounded(rounded(slope) * rounded(static_cast<float>(place))) /
                       std::sqrt(static_cast<float>(head_dim)));
    }
  }
  return key_bias(pass, static_cast<int64_t>(slopes.size()), tokens, std::move(values));
}

std::unique_ptr<Model> build_falcon(const ModelSource& source) {
  const Config& config = source.config;
  const FalconForm form = read_form(config);
  const AttentionSizes& sizes = form.sizes;
  const LayerSource base =
      source.weights.below_one_of({"transformer.", ""}, "word_embeddings.weight");
  const std::string_view depth = config.has("num_hidden_layers") ? "num_hidden_layers" : "n_layer";
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config, depth); ++i) {
    layers.push_back({load_falcon_block(base["h"][i], config, form)});
  }
  TextScores scores{.scale = sizes.scale()};
  if (config.get_bool("alibi", false)) {
    scores.bias = [slopes = alibi_slopes(sizes.heads), dim = sizes.head_dim](
                      const Pass& pass, int64_t tokens, std::span<const int64_t> mask) {
      return falcon_bias(slopes, dim, pass, tokens, mask);
    };
  } else {
    scores.rotary.push_back(RotaryEmbedding::of(config, sizes.head_dim));
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["word_embeddings"], config.get_size("vocab_size"), sizes.width),
      .stack = {std::move(scores), std::move(layers)},
      .norm = Norm::layer(base["ln_f"], sizes.width, form.epsilon),
      .trained_tokens = config.get_size("max_position_embeddings", 2048)};
  TextHead head = decoder_head(source, parts.words);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture falcon_architecture() {
  return {.name = "falcon",
          .covers = "Falcon",
          .model_types = {"falcon"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_falcon};
}

}  // namespace fovea
