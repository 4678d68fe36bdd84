#include "fovea/generate/decoder_words.h"

namespace fovea {

Tensor DecoderWords::start(std::span<const int64_t> prompt) {
  FOVEA_ASSERT(cache_.length() == 0);
  return model_.decode(source_, prompt, {}, {.cache = &cache_, .logits = LogitRows::kLast})
      .logits.tensor;
}

Tensor DecoderWords::step(std::span<const int64_t> parents, std::span<const int64_t> ids) {
  cache_.branch(parents);
  return model_.decode(source_, ids, {}, {.cache = &cache_, .logits = LogitRows::kAll})
      .logits.tensor;
}

}  // namespace fovea
