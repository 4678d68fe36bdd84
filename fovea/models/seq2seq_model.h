// A model of two stacks. The encoder reads the source; the decoder writes the target and looks at
// the source.
#pragma once

#include <functional>
#include <optional>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/encoded_source.h"
#include "fovea/layers/heads.h"
#include "fovea/models/model.h"

namespace fovea {

class Seq2SeqModel : public Model {
 public:
  const ModelFacts& facts() const final { return facts_; }
  const Seq2SeqModel* seq2seq() const final { return this; }
  ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const final;

  // What the decoder reads: decoder_input_ids, or the model's own start if they are not given.
  // Throws Error{kInvalidArgument} if they are missing and the model has no rule for them.
  std::vector<int64_t> decoder_ids(const ModelInputs& inputs) const;

  // The two halves of forward(), for callers that decode step by step. encode() reads only the
  // source's parts of `inputs`. Both throw as forward() does.
  EncodedSource encode(const ModelInputs& inputs, const Pass& pass) const;
  // In a generation, `ids` continue what the cache holds, hypothesis by hypothesis.
  // `attention_mask` is 0 for padding, or empty.
  ModelOutputs decode(const EncodedSource& source, std::span<const int64_t> ids,
                      std::span<const int64_t> attention_mask, const Pass& pass) const;

  // The table of words [vocabulary, width], in the file's own type, if encoder and decoder use one;
  // else empty.
  virtual StoredMatrix shared_words() const { return {}; }

 protected:
  explicit Seq2SeqModel(const ModelSource& source) : config_(source.config) {}
  // For constructors, once the parts are loaded.
  void set_facts(const ModelFacts& facts) { facts_ = facts; }
  void set_word_scores(WordScores scores);
  // T5 multiplies the decoder's states by this factor before it scores words.
  void set_score_factor(float factor) { score_factor_ = factor; }
  // Classifies the source by "dense" and "out_proj", from the decoder's state at the source's last
  // eos_token_id.
  void set_class_head(const LayerSource& source, int64_t width);
  const Config& config() const { return config_; }

  virtual Value encoder_states(const ModelInputs& inputs, const Pass& pass) const = 0;
  virtual Value decoder_states(const EncodedSource& source, std::span<const int64_t> ids,
                               std::span<const int64_t> attention_mask, const Pass& pass) const = 0;
  virtual std::vector<int64_t> default_decoder_ids(const ModelInputs& inputs) const;

 private:
  void check_source(const ModelInputs& inputs) const;
  Value class_scores(const Value& states, const ModelInputs& inputs) const;

  Config config_;
  ModelFacts facts_;
  std::optional<WordScores> word_scores_;
  std::function<Value(const Value& row)> classify_;
  float score_factor_ = 1;
};

// The facts of an encoder and a decoder of these sizes; the caller adds the rest.
ModelFacts two_stack_facts(const AttentionSizes& encoder, int64_t encoder_layers,
                           const AttentionSizes& decoder, int64_t decoder_layers);

// The words of one stack, "encoder" or "decoder": its own table, or the one that both share.
StoredMatrix load_stack_words(const LayerSource& base, std::string_view stack, int64_t entries,
                              int64_t width);

// `source` if `target` holds the same numbers, else an empty matrix.
StoredMatrix shared_table(const StoredMatrix& source, const StoredMatrix& target);

// [1, words] under "final_logits_bias", or an empty tensor.
Tensor final_logits_bias(const LayerSource& all, int64_t words);

}  // namespace fovea
