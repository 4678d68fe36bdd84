// The decoder of a two-stack model, in the form in which a search asks for words.
#pragma once

#include <vector>

#include "fovea/capture/subject.h"
#include "fovea/generate/search.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/models/seq2seq_model.h"

namespace fovea {

// For one thread and one search. Keeps the model and the source, which is encoded once for all
// steps and hypotheses.
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

// The changes whose positions exist in a target of so many tokens. The others wait until the target
// has grown.
std::vector<Intervention> changes_within(const std::vector<Intervention>& changes, int64_t tokens);

// The same for a decoder whose attention is changed. It reads every text anew at each step: a cache
// holds what earlier steps saw, and a change may reach those too.
class ChangedDecoderWords final : public NextWords {
 public:
  ChangedDecoderWords(const Seq2SeqModel& model, const EncodedSource& source,
                      std::vector<Intervention> changes)
      : model_(model), source_(source), changes_(std::move(changes)) {}

  Tensor start(std::span<const int64_t> prompt) override;
  Tensor step(std::span<const int64_t> parents, std::span<const int64_t> ids) override;

 private:
  Tensor scores() const;  // scores of the word after each text

  const Seq2SeqModel& model_;
  const EncodedSource& source_;
  std::vector<Intervention> changes_;
  std::vector<std::vector<int64_t>> texts_;  // one for each hypothesis
};

}  // namespace fovea
