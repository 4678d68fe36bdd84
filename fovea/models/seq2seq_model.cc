#include "fovea/models/seq2seq_model.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/check_inputs.h"
#include "fovea/ops/elementwise.h"

namespace fovea {

ModelFacts two_stack_facts(const AttentionSizes& encoder, int64_t encoder_layers,
                           const AttentionSizes& decoder, int64_t decoder_layers) {
  ModelFacts facts{.main = stack_facts(encoder, encoder_layers),
                   .decoder = stack_facts(decoder, decoder_layers)};
  facts.decoder->causal = true;
  return facts;
}

StoredMatrix load_stack_words(const LayerSource& base, std::string_view stack, int64_t entries,
                              int64_t width) {
  const std::string_view other = stack == "encoder" ? "decoder" : "encoder";
  for (const LayerSource& place :
       {base[stack]["embed_tokens"], base["shared"], base[other]["embed_tokens"]}) {
    if (place.weights.has("weight")) return load_table(place, entries, width);
  }
  return load_table(base["shared"], entries, width);  // says that it is missing
}

StoredMatrix shared_table(const StoredMatrix& source, const StoredMatrix& target) {
  const Tensor &a = source.numbers(), &b = target.numbers();
  const bool same = source.format() == target.format() && source.shape() == target.shape() &&
                    (a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
  return same ? source : StoredMatrix();
}

Tensor final_logits_bias(const LayerSource& all, int64_t words) {
  if (!all.weights.has("final_logits_bias")) return {};
  return all.weights.tensor("final_logits_bias", {1, words}, DType::kF32).reshaped({words});
}

void Seq2SeqModel::set_class_head(const LayerSource& source, int64_t width) {
  classify_ = [dense = load_linear(source["dense"], width, width),
               out = load_linear(source["out_proj"], width, label_count(config_))](
                  const Value& row) { return as_vector(out(dense(row, Activation::kTanh))); };
  facts_.head = HeadKind::kSequenceClass;
}

Value Seq2SeqModel::class_scores(const Value& states, const ModelInputs& inputs) const {
  const int64_t eos = config_.get_int("eos_token_id");
  const auto last = std::ranges::find(inputs.input_ids.rbegin(), inputs.input_ids.rend(), eos);
  if (last == inputs.input_ids.rend()) {
    fail(ErrorKind::kInvalidArgument,
         "the source has no token {}, the end of a text, from which this model takes the classes "
         "({}); add it",
         eos, config_.source());
  }
  if (states.shape()[0] != inputs.tokens()) {
    fail(ErrorKind::kInvalidArgument,
         "decoder_input_ids has {} entries but input_ids has {}; a classifier reads the same text "
         "on both sides",
         states.shape()[0], inputs.tokens());
  }
  return classify_(row_of(states, std::distance(last, inputs.input_ids.rend()) - 1));
}

void Seq2SeqModel::set_word_scores(WordScores scores) {
  word_scores_ = std::move(scores);
  facts_.head = HeadKind::kTargetWords;
}

void Seq2SeqModel::check_source(const ModelInputs& inputs) const {
  if (facts_.takes_features()) {
    refuse_inputs("a model of sound", inputs,
                  {"input_ids", "token_type_ids", "attention_mask", "pixel_values", "pixel_mask"});
    return;
  }
  refuse_inputs("a model of text", inputs,
                {"token_type_ids", "input_features", "pixel_values", "pixel_mask"});
  check_ids(config_, inputs.input_ids, facts_.text->vocabulary);
  check_beside("attention_mask", inputs.attention_mask, "input_ids", inputs.tokens());
  if (const int64_t most = facts_.text->most_tokens; most > 0) {
    check_length(config_, inputs.tokens(), most, "source");
  }
}

EncodedSource Seq2SeqModel::encode(const ModelInputs& inputs, const Pass& pass) const {
  FOVEA_ASSERT(pass.cache == nullptr);
  check_source(inputs);
  return {encoder_states(inputs, pass), inputs.attention_mask};
}

ModelOutputs Seq2SeqModel::decode(const EncodedSource& source, std::span<const int64_t> ids,
                                  std::span<const int64_t> attention_mask, const Pass& pass) const {
  const auto count = static_cast<int64_t>(ids.size());
  check_ids(config_, ids, facts_.target->vocabulary);
  check_beside("decoder_attention_mask", attention_mask, "decoder_input_ids", count);
  if (pass.cache != nullptr && !attention_mask.empty()) {
    fail(ErrorKind::kInvalidArgument, "a target is written step by step only without padding");
  }
  const int64_t each = pass.cache == nullptr ? count : count / pass.cache->hypotheses();
  if (const int64_t most = facts_.target->most_tokens; most > 0) {
    check_length(config_, first_position(pass) + each, most, "target");
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
  if (classify_ && pass.logits != LogitRows::kNone) {
    outputs.logits = class_scores(outputs.last_hidden_state, inputs);
  }
  return outputs;
}

std::vector<int64_t> Seq2SeqModel::decoder_ids(const ModelInputs& inputs) const {
  return inputs.decoder_input_ids.empty() ? default_decoder_ids(inputs) : inputs.decoder_input_ids;
}

std::vector<int64_t> Seq2SeqModel::default_decoder_ids(const ModelInputs&) const {
  fail(ErrorKind::kInvalidArgument,
       "this model has a decoder, which needs decoder_input_ids beside the source; give them, or "
       "translate the source, which writes them");
}

}  // namespace fovea
