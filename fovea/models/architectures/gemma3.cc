// Gemma 3, its text part (Gemma team 2025, arXiv:2503.19786): norms before and after each part,
// windows on most layers, and another rotary base for those.
#include <cmath>

#include "fovea/models/gemma_model.h"

namespace fovea {
namespace {

// The text part's own configuration: a section of the one for text and pictures.
Config text_config(const Config& config) {
  const std::optional<Config> section = config.find_section("text_config");
  Json json = section ? section->json() : config.json();
  for (const char* key : {"architectures", "id2label", "num_labels"}) {
    if (const Json* value = config.json().find(key)) json.set(key, *value);
  }
  // Published files name only what differs from these.
  static constexpr std::pair<const char*, int64_t> kDefaults[] = {
      {"num_attention_heads", 8}, {"num_key_value_heads", 4},  {"head_dim", 256},
      {"hidden_size", 2304},      {"intermediate_size", 9216}, {"num_hidden_layers", 26},
      {"pad_token_id", 0}};
  for (const auto& [key, value] : kDefaults) {
    if (json.find(key) == nullptr) json.set(key, value);
  }
  return Config(std::move(json), config.source());
}

std::unique_ptr<Model> build_gemma3(const ModelSource& whole) {
  const ModelSource source{text_config(whole.config), whole.weights};
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const bool both_ways = config.get_bool("use_bidirectional_attention", false);
  GemmaOptions options{.head_norms = true, .vocabulary = 262208, .trained_tokens = 131072};
  for (const auto window : alternating_windows(config, config.get_size("sliding_window_pattern", 6),
                                               config.get_size("sliding_window", 4096))) {
    // Both ways, a window opens half of it to either side.
    options.reaches.push_back(window && both_ways ? *window / 2 : reach_of(window));
  }
  options.scores = {
      .causal = !both_ways,
      .rotary = {RotaryEmbedding::of(config, sizes.head_dim, 1e6, "full_attention"),
                 config.has("rope_parameters")
                     ? RotaryEmbedding::of(config, sizes.head_dim, 1e4, "sliding_attention")
                     : RotaryEmbedding::plain(sizes.head_dim,
                                              config.get_double("rope_local_base_freq", 1e4))}};
  options.head.soft_cap = static_cast<float>(config.get_double("final_logit_softcapping", 0));
  return gemma_model(source,
                     source.weights.below_one_of({"model.language_model.", "language_model.model.",
                                                  "model.", "language_model.", ""},
                                                 "embed_tokens.weight"),
                     options);
}

}  // namespace

Architecture gemma3_architecture() {
  return {.name = "gemma3",
          .covers = "Gemma 3 (text)",
          .model_types = {"gemma3_text", "gemma3"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head", "vision_tower", "multi_modal_projector"},
          .build = build_gemma3};
}

}  // namespace fovea
