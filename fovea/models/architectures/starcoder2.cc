// StarCoder 2 (Lozhkov et al. 2024, arXiv:2402.19173): Llama with layer norms, biases, a plain
// feed-forward part and a window.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_starcoder2(const ModelSource& source) {
  const Config& config = source.config;
  const bool bias = config.get_bool("use_bias", true);
  const int64_t width = config.get_size("hidden_size");
  RopeDecoderOptions options{.query_key_value_bias = bias, .output_bias = bias};
  options.norm = [&](const LayerSource& norm) {
    return Norm::layer(norm, width, config.get_double("norm_epsilon", 1e-5));
  };
  options.feed_forward = [&](const LayerSource& block, int64_t) {
    const int64_t inner = config.get_size("intermediate_size");
    return FeedForward(load_linear(block["mlp.c_fc"], width, inner, bias),
                       load_linear(block["mlp.c_proj"], inner, width, bias),
                       activation_named(config, "hidden_act", "gelu_pytorch_tanh"));
  };
  if (config.has("sliding_window")) {
    options.windows.assign(static_cast<size_t>(layer_count(config)),
                           config.get_size("sliding_window"));
  }
  return rope_model(source, {.decoder = std::move(options), .trained_tokens = 4096});
}

}  // namespace

Architecture starcoder2_architecture() {
  return {.name = "starcoder2",
          .covers = "StarCoder 2",
          .model_types = {"starcoder2"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_starcoder2};
}

}  // namespace fovea
