#include "fovea/models/seq2seq_model.h"

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/check_inputs.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"

namespace fovea {

ModelFacts two_stack_facts(const AttentionSizes& encoder, int64_t encoder_layers,
                           const AttentionSizes& decoder, int64_t decoder_layers) {
  ModelFacts facts = stack_facts(encoder, encoder_layers);
  facts.decoder_layers = decoder_layers;
  facts.decoder_heads = decoder.heads;
  return facts;
}

void Seq2SeqModel::set_word_scores(WordScores scores) {
  word_scores_ = std::move(scores);
  facts_.head = HeadKind::kTargetWords;
}

void Seq2SeqModel::check_source(const ModelInputs& inputs) const {
  if (facts_.takes_features) {
    refuse_inputs("a model of sound", inputs, {"input_ids", "token_type_ids", "attention_mask"});
    return;
  }
  refuse_inputs("a model of text", inputs, {"token_type_ids", "input_features"});
  check_ids(config_, inputs.input_ids, facts_.vocabulary);
  check_beside("attention_mask", inputs.attention_mask, "input_ids", inputs.tokens());
  if (facts_.most_tokens > 0) check_length(config_, inputs.tokens(), facts_.most_tokens);
}

EncodedSource Seq2SeqModel::encode(const ModelInputs& inputs, const Pass& pass) const {
  FOVEA_ASSERT(pass.cache == nullptr);
  check_source(inputs);
  return {encoder_states(inputs, pass), inputs.attention_mask};
}

ModelOutputs Seq2SeqModel::decode(const EncodedSource& source, std::span<const int64_t> ids,
                                  std::span<const int64_t> attention_mask, const Pass& pass) const {
  const auto count = static_cast<int64_t>(ids.size());
  check_ids(config_, ids, facts_.target_vocabulary);
  check_beside("decoder_attention_mask", attention_mask, "decoder_input_ids", count);
  const int64_t each = pass.cache == nullptr ? count : count / pass.cache->hypotheses();
  if (facts_.most_target_tokens > 0) {
    check_length(config_, first_position(pass) + each, facts_.most_target_tokens);
  }
  ModelOutputs outputs;
  outputs.last_hidden_state = decoder_states(source, ids, attention_mask, pass);
  if (pass.cache != nullptr) pass.cache->advance(each);
  if (word_scores_ && pass.logits != LogitRows::kNone) {
    Value x = rows_for_logits(outputs.last_hidden_state, pass.logits);
    if (score_factor_ != 1) x = ops::scale(x, score_factor_);
    outputs.logits = (*word_scores_)(x);
  }
  return outputs;
}

ModelOutputs Seq2SeqModel::forward(const ModelInputs& inputs, const Pass& pass) const {
  const std::vector<int64_t> ids = decoder_ids(inputs);
  const EncodedSource source = encode(inputs, pass);
  ModelOutputs outputs = decode(source, ids, inputs.decoder_attention_mask, pass);
  outputs.encoder_last_hidden_state = source.states;
  return outputs;
}

std::vector<int64_t> Seq2SeqModel::decoder_ids(const ModelInputs& inputs) const {
  return inputs.decoder_input_ids.empty() ? default_decoder_ids(inputs) : inputs.decoder_input_ids;
}

std::vector<int64_t> Seq2SeqModel::default_decoder_ids(const ModelInputs&) const {
  fail(ErrorKind::kInvalidArgument,
       "this model has a decoder, which needs decoder_input_ids beside the source; give them, or "
       "let 'fovea translate' write them");
}

}  // namespace fovea
