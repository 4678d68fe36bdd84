// Mixtral (Jiang et al. 2024, arXiv:2401.04088): Mistral with experts in place of each feed-forward
// part.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_mixtral(const ModelSource& source) {
  constexpr double kBase = 1e6;  // if config.json does not say
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const ExpertCounts counts =
      ExpertCounts::of(config, "num_local_experts", "num_experts_per_tok", 2);
  RopeDecoderOptions options{.epsilon = 1e-5};
  options.rotary = RotaryEmbedding::of(config, sizes.head_dim, kBase);
  if (config.has("sliding_window")) {
    options.windows.assign(static_cast<size_t>(layer_count(config)),
                           config.get_size("sliding_window"));
  }
  options.feed_forward = [&](const LayerSource& block, int64_t) {
    const bool is_old = !block.weights["block_sparse_moe"].names().empty();
    const LayerSource part = block[is_old ? "block_sparse_moe" : "mlp"];
    return ExpertFeedForward(load_linear(part["gate"], sizes.width, counts.experts, /*bias=*/false),
                             load_experts(part["experts"], counts.experts, sizes.width,
                                          config.get_size("intermediate_size"), {"w1", "w3", "w2"}),
                             counts.taken, ops::SoftmaxOver::kChosen,
                             {.activation = activation_named(config, "hidden_act", "silu")});
  };
  return rope_model(source, {.decoder = std::move(options), .trained_tokens = 131072});
}

}  // namespace

Architecture mixtral_architecture() {
  return {.name = "mixtral",
          .covers = "Mixtral",
          .model_types = {"mixtral"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_mixtral};
}

}  // namespace fovea
