// Qwen 2 and 2.5 (Yang et al. 2024, arXiv:2407.10671): Llama with biases on q, k and v, and on
// request a window in the upper layers.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_qwen2(const ModelSource& source) {
  return rope_model(source, {.decoder = {.query_key_value_bias = true,
                                         .windows = upper_layer_windows(source.config)}});
}

}  // namespace

Architecture qwen2_architecture() {
  return {.name = "qwen2",
          .covers = "Qwen 2, Qwen 2.5",
          .model_types = {"qwen2"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_qwen2};
}

}  // namespace fovea
