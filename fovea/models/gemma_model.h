// What Gemma 2 and 3 share: norms before and after each part, stored less 1, and words times the
// root of the width.
#pragma once

#include "fovea/models/decoder_model.h"

namespace fovea {

struct GemmaOptions {
  bool head_norms = false;
  std::vector<std::optional<int64_t>> reaches;  // one per layer
  // Without the scale. Layers that see everything turn by the first rotary embedding, others by the
  // last.
  TextScores scores;
  DecoderHeadOptions head;
  int64_t vocabulary = 0;  // if config.json does not say
  int64_t trained_tokens = 0;
};

// `base` holds "embed_tokens", "layers" and "norm".
std::unique_ptr<Model> gemma_model(const ModelSource& source, const LayerSource& base,
                                   GemmaOptions options);

}  // namespace fovea
