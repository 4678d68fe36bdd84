// Gemma 2 (Gemma team 2024, arXiv:2408.00118): soft caps on scores and on word scores, and a window
// on every other layer.
#include "fovea/base/error.h"
#include "fovea/models/gemma_model.h"

namespace fovea {
namespace {

// A cap that is null in config.json is none; one that is missing is the family's.
float soft_cap(const Config& config, std::string_view key, double otherwise) {
  const Json* value = config.json().find(key);
  if (value != nullptr && !config.has(key)) return 0;
  return static_cast<float>(positive_number(config, key, otherwise));
}

std::unique_ptr<Model> build_gemma2(const ModelSource& source) {
  constexpr int64_t kPattern = 2;
  const Config& config = source.config;
  if (config.get_bool("use_bidirectional_attention", false)) {
    fail(ErrorKind::kUnsupported,
         "{}: use_bidirectional_attention is true, which of Gemma 2 fovea does not run; Gemma 3 it "
         "does",
         config.source());
  }
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  GemmaOptions options{.vocabulary = 256000, .trained_tokens = 8192};
  for (const auto window :
       alternating_windows(config, kPattern, config.get_size("sliding_window", 4096))) {
    options.reaches.push_back(reach_of(window));
  }
  options.scores = {.soft_cap = soft_cap(config, "attn_logit_softcapping", 50),
                    .rotary = {RotaryEmbedding::of(config, sizes.head_dim)}};
  options.head.soft_cap = soft_cap(config, "final_logit_softcapping", 30);
  return gemma_model(source, source.weights.below_one_of({"model.", ""}, "embed_tokens.weight"),
                     std::move(options));
}

}  // namespace

Architecture gemma2_architecture() {
  return {.name = "gemma2",
          .covers = "Gemma 2",
          .model_types = {"gemma2"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_gemma2};
}

}  // namespace fovea
