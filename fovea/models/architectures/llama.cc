// Llama 1 to 3 and what shares their form: SmolLM, TinyLlama, Vicuna (Touvron et al. 2023,
// arXiv:2302.13971; Grattafiori et al. 2024, arXiv:2407.21783).
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_llama(const ModelSource& source) {
  const bool bias = source.config.get_bool("attention_bias", false);
  return rope_model(source,
                    {.decoder = {.query_key_value_bias = bias,
                                 .output_bias = bias,
                                 .feed_forward_bias = source.config.get_bool("mlp_bias", false)}});
}

}  // namespace

Architecture llama_architecture() {
  return {.name = "llama",
          .covers = "Llama 1 to 3, SmolLM, TinyLlama",
          .model_types = {"llama"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_llama};
}

}  // namespace fovea
