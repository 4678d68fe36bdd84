// A causal text model on Llama's stack. The files of Llama, Mistral and Qwen say how they differ.
#pragma once

#include "fovea/layers/rope_decoder.h"
#include "fovea/models/text_model.h"

namespace fovea {

class RopeModel final : public TextModel {
 public:
  RopeModel(const ModelSource& source, const RopeDecoderOptions& options);

 private:
  RopeModel(const ModelSource& source, const RopeDecoderOptions& options, const LayerSource& base);
  Value hidden(const ModelInputs& inputs, const Pass& pass) const override;

  StoredMatrix words_;
  RopeDecoder decoder_;
};

// The next word or classes, with the names that decoders share: lm_head, score, classifier.
TextHead decoder_head(const ModelSource& source, const StoredMatrix& words, float soft_cap = 0);

}  // namespace fovea
