// Qwen 3 with experts (Yang et al. 2025, arXiv:2505.09388), in all layers or in some.
#include <algorithm>

#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

// Whether a layer has experts: every decoder_sparse_step-th has, but those of mlp_only_layers.
bool has_experts(const Config& config, int64_t layer) {
  const std::vector<int64_t> plain = config.get_ints("mlp_only_layers");
  return std::ranges::find(plain, layer) == plain.end() &&
         (layer + 1) % config.get_size("decoder_sparse_step", 1) == 0;
}

std::unique_ptr<Model> build_qwen3_moe(const ModelSource& source) {
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const ExpertCounts counts =
      ExpertCounts::of(config, config.has("num_experts") ? "num_experts" : "num_local_experts",
                       "num_experts_per_tok", 8);
  const bool bias = config.get_bool("attention_bias", false);
  RopeDecoderOptions options{.query_key_value_bias = bias, .output_bias = bias, .head_norms = true};
  if (config.get_bool("use_sliding_window", false) && config.has("sliding_window")) {
    options.windows.assign(static_cast<size_t>(layer_count(config)),
                           config.get_size("sliding_window"));
  }
  options.feed_forward = [&](const LayerSource& block, int64_t layer) -> AnyFeedForward {
    const LayerSource part = block["mlp"];
    const Activation activation = activation_named(config, "hidden_act", "silu");
    if (!has_experts(config, layer)) {
      return GatedFeedForward(part, sizes.width, config.get_size("intermediate_size"), activation,
                              /*bias=*/false);
    }
    return ExpertFeedForward(load_linear(part["gate"], sizes.width, counts.experts, /*bias=*/false),
                             load_experts(part["experts"], counts.experts, sizes.width,
                                          config.get_size("moe_intermediate_size", 768), {}),
                             counts.taken,
                             config.get_bool("norm_topk_prob", false) ? ops::SoftmaxOver::kChosen
                                                                      : ops::SoftmaxOver::kAll,
                             {.activation = activation});
  };
  return rope_model(source, {.decoder = std::move(options), .trained_tokens = 32768});
}

}  // namespace

Architecture qwen3_moe_architecture() {
  return {.name = "qwen3_moe",
          .covers = "Qwen 3 with experts",
          .model_types = {"qwen3_moe"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_qwen3_moe};
}

}  // namespace fovea
