// Mistral (Jiang et al. 2023, arXiv:2310.06825): Llama with a window on every layer.
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_mistral(const ModelSource& source) {
  RopeDecoderOptions options;
  if (source.config.has("sliding_window")) {
    options.windows.assign(static_cast<size_t>(layer_count(source.config)),
                           source.config.get_size("sliding_window"));
  }
  return rope_model(source, {.decoder = std::move(options)});
}

}  // namespace

Architecture mistral_architecture() {
  return {.name = "mistral",
          .covers = "Mistral 7B and the like",
          .model_types = {"mistral"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_mistral};
}

}  // namespace fovea
