// The decoder of a model with two stacks, as a search asks it for words.
#pragma once

#include "fovea/generate/search.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/models/seq2seq_model.h"

namespace fovea {

// For one thread and one search. Holds on to the model and to the source, which is encoded once for
// all steps and hypotheses.
class DecoderWords final : public NextWords {
 public:
  DecoderWords(const Seq2SeqModel& model, const EncodedSource& source)
      : model_(model), source_(source) {}

  Tensor start(std::span<const int64_t> prompt) override;
  Tensor step(std::span<const int64_t> parents, std::span<const int64_t> ids) override;

 private:
  const Seq2SeqModel& model_;
  const EncodedSource& source_;
  AttentionCache cache_;
};

}  // namespace fovea
