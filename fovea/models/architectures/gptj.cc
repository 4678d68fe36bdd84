// GPT-J (Wang and Komatsuzaki 2021): attention and feed-forward side by side, and rotary positions
// of neighbouring numbers on a part of each head.
#include "fovea/base/error.h"
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

// How many numbers of a head turn.
int64_t rotated_numbers(const Config& config, int64_t head_dim) {
  const int64_t rotated = config.has("rotary_dim") ? config.get_size("rotary_dim") : head_dim;
  if (rotated > head_dim || rotated % 2 != 0) {
    fail(ErrorKind::kBadFile,
         "{}: rotary_dim is {} for heads of {} numbers; it must be even and no larger",
         config.source(), rotated, head_dim);
  }
  return rotated;
}

ParallelBlock load_gptj_block(const LayerSource& source, const Config& config,
                              const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("n_inner", 4 * width);
  const LayerSource parts = source["attn"];
  return {Norm::layer(source["ln_1"], width, config.get_double("layer_norm_epsilon", 1e-5)),
          AttentionLayer(sizes, load_query_key_value(parts, sizes, /*bias=*/false),
                         load_linear(parts["out_proj"], width, width, /*bias=*/false)),
          std::nullopt,
          FeedForward(load_linear(source["mlp.fc_in"], width, inner),
                      load_linear(source["mlp.fc_out"], inner, width),
                      activation_named(config, "activation_function", "gelu_new"))};
}

std::unique_ptr<Model> build_gptj(const ModelSource& source) {
  constexpr double kBase = 10000;
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"transformer.", ""}, "wte.weight");
  const AttentionSizes sizes = AttentionSizes::equal_heads(config, "n_embd", "n_head");
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config, "n_layer"); ++i) {
    layers.push_back({load_gptj_block(base["h"][i], config, sizes)});
  }
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["wte"], config.get_size("vocab_size"), sizes.width),
      .stack = {{.scale = sizes.scale(),
                 .rotary = {RotaryEmbedding::plain(rotated_numbers(config, sizes.head_dim), kBase)},
                 .pairing = RotaryPairing::kNeighbours},
                std::move(layers)},
      .norm = Norm::layer(base["ln_f"], sizes.width, config.get_double("layer_norm_epsilon", 1e-5)),
      .trained_tokens = config.get_size("n_positions", 2048)};
  TextHead head = decoder_head(source, parts.words, {.bias = true});
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture gptj_architecture() {
  return {.name = "gptj",
          .covers = "GPT-J",
          .model_types = {"gptj"},
          .not_needed = {"attn.bias", "attn.masked_bias", "attn.embed_positions", "lm_head"},
          .build = build_gptj};
}

}  // namespace fovea
