// Phi-3 and Phi-4-mini (Abdin et al. 2024, arXiv:2404.14219): Llama with joined projections, and
// LongRoPE for texts longer than in training.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::vector<ops::Linear> load_phi3_projections(const LayerSource& attention,
                                               const AttentionSizes& sizes) {
  const int64_t rows = (sizes.heads + 2 * sizes.kv_heads) * sizes.head_dim;
  return {load_linear(attention["qkv_proj"], sizes.width, rows, /*bias=*/false)};
}

std::unique_ptr<Model> build_phi3(const ModelSource& source) {
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  RopeDecoderOptions options{.epsilon = 1e-5, .projections = load_phi3_projections};
  options.rotary = RotaryEmbedding::of(
      config, RotaryEmbedding::rotated_part(config, sizes.head_dim, "partial_rotary_factor", 1));
  if (config.has("sliding_window")) {
    options.windows.assign(static_cast<size_t>(layer_count(config)),
                           config.get_size("sliding_window"));
  }
  options.feed_forward = [&](const LayerSource& block, int64_t) {
    const LayerSource part = block["mlp"];
    return GatedFeedForward::joined(part["gate_up_proj"], part["down_proj"], sizes.width,
                                    config.get_size("intermediate_size"),
                                    activation_named(config, "hidden_act", "silu"),
                                    /*bias=*/false);
  };
  return rope_model(source, {.decoder = std::move(options), .trained_tokens = 4096});
}

}  // namespace

Architecture phi3_architecture() {
  return {
      .name = "phi3",
      .covers = "Phi-3, Phi-4-mini",
      .model_types = {"phi3"},
      .not_needed = {"rotary_emb.inv_freq", "rope_factors_long", "rope_factors_short", "lm_head"},
      .build = build_phi3};
}

}  // namespace fovea
