// Granite 3 (IBM 2024): Llama with factors on words, scores, results and word scores.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_granite(const ModelSource& source) {
  const Config& config = source.config;
  const bool bias = config.get_bool("attention_bias", false);
  const auto factor = [&](std::string_view key) {
    return static_cast<float>(positive_number(config, key, 1));
  };
  return rope_model(source, {.decoder = {.query_key_value_bias = bias,
                                         .output_bias = bias,
                                         .feed_forward_bias = config.get_bool("mlp_bias", false),
                                         .scale = factor("attention_multiplier"),
                                         .result_scale = factor("residual_multiplier")},
                             .words_scale = factor("embedding_multiplier"),
                             .head = {.scale = 1 / factor("logits_scaling")}});
}

}  // namespace

Architecture granite_architecture() {
  return {.name = "granite",
          .covers = "Granite 3 (dense)",
          .model_types = {"granite"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_granite};
}

}  // namespace fovea
