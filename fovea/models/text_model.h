// What all text models share: checking the input, running the stack, and the head.
#pragma once

#include <functional>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/heads.h"
#include "fovea/models/model.h"

namespace fovea {

// Makes logits from the hidden states [tokens, width]. Without a function there is no head.
struct TextHead {
  HeadKind kind = HeadKind::kNone;
  std::function<Value(const Value& hidden, const ModelInputs& inputs, LogitRows rows)> logits;
};

// The facts of a text model that reads `vocabulary` words and has a learned table of `positions`.
ModelFacts text_facts(const AttentionSizes& sizes, int64_t layers, int64_t vocabulary,
                      int64_t positions, bool causal);

class TextModel : public Model {
 public:
  const ModelFacts& facts() const final { return facts_; }
  ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const final;

 protected:
  explicit TextModel(const ModelSource& source);
  // For constructors, once the parts are loaded.
  void set_facts(const ModelFacts& facts) { facts_ = facts; }
  void set_head(TextHead head);
  const Config& config() const { return config_; }

  // The hidden states [tokens, width] after the last block and its norm.
  virtual Value hidden(const ModelInputs& inputs, const Pass& pass) const = 0;

 private:
  void check(const ModelInputs& inputs, const Pass& pass) const;

  Config config_;
  ModelFacts facts_;
  TextHead head_;
};

// Heads that several architectures share. Each takes its parts by value and keeps them.
// Scores words at every position, after `transform` if there is one.
TextHead word_head(HeadKind kind, WordScores scores,
                   std::function<Value(const Value&)> transform = nullptr);
// Makes classes from the first token: out(activation(dense(token))).
TextHead first_token_class_head(const Config& config, const LayerSource& dense,
                                Activation activation, const LayerSource& out, int64_t width);
// RoBERTa's heads, which MPNet and ESM share: words by "lm_head", or classes by "classifier".
TextHead roberta_head(const ModelSource& source, const StoredMatrix& words, double epsilon);
// Makes classes from the last token that is not padding, by "score", as decoders do.
TextHead last_token_class_head(const ModelSource& source, int64_t width);
// Makes classes of each token.
TextHead token_class_head(ops::Linear classifier);

// The weights of the first of `names` that the file holds, or `tied`, for word scores. Throws
// Error{kBadFile} if there are none and tie_word_embeddings is false.
StoredMatrix word_weights(const Config& config, const LayerSource& source,
                          std::initializer_list<std::string_view> names, const StoredMatrix& tied);
// The bias of word scores: "bias", which "decoder.bias" repeats; where the scores are not tied to
// the embeddings, "decoder.bias" first, which is then the one in use.
Tensor word_bias(const Config& config, const LayerSource& head, int64_t size);
// The first of `names` that the file holds as a vector of `size`, or an empty tensor.
Tensor first_vector(const LayerSource& source, std::initializer_list<std::string_view> names,
                    int64_t size);

}  // namespace fovea
