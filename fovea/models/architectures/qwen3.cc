// Qwen 3 (Yang et al. 2025, arXiv:2505.09388): Llama with a norm on each head's q and k.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_qwen3(const ModelSource& source) {
  const Config& config = source.config;
  const bool bias = config.get_bool("attention_bias", false);
  return rope_model(source, {.decoder = {.query_key_value_bias = bias,
                                         .output_bias = bias,
                                         .head_norms = true,
                                         .windows = upper_layer_windows(config)}});
}

}  // namespace

Architecture qwen3_architecture() {
  return {.name = "qwen3",
          .covers = "Qwen 3 (dense)",
          .model_types = {"qwen3"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_qwen3};
}

}  // namespace fovea
