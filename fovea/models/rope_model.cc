#include "fovea/models/rope_model.h"

#include "fovea/layers/numeric_input.h"

namespace fovea {

TextHead decoder_head(const ModelSource& source, const StoredMatrix& words, float soft_cap) {
  const LayerSource& all = source.weights;
  const int64_t width = words.cols();
  if (source.is("ForCausalLM", "lm_head.weight") || source.is("ForConditionalGeneration", "")) {
    WordScores scores(word_weights(source.config, all, {"lm_head.weight"}, words), {}, all.compute);
    scores.set_soft_cap(soft_cap);
    return word_head(HeadKind::kCausalLm, std::move(scores));
  }
  if (source.is("ForTokenClassification", "")) {
    return token_class_head(load_linear(all["score"], width, label_count(source.config)));
  }
  if (source.is("ForSequenceClassification", "score.weight")) {
    return last_token_class_head(source, width);
  }
  return {};
}

RopeModel::RopeModel(const ModelSource& source, const RopeDecoderOptions& options)
    : RopeModel(source, options,
                source.weights.below_one_of({"model.", ""}, "embed_tokens.weight")) {}

RopeModel::RopeModel(const ModelSource& source, const RopeDecoderOptions& options,
                     const LayerSource& base)
    : TextModel(source),
      words_(load_table(base["embed_tokens"], source.config.get_size("vocab_size"),
                        source.config.get_size("hidden_size"))),
      decoder_(base, source.config, options) {
  const AttentionSizes& sizes = decoder_.sizes();
  ModelFacts facts{.main = stack_facts(sizes, decoder_.layers())};
  facts.main.causal = facts.main.rotary = true;
  facts.text = TextFacts{.vocabulary = words_.size(0),
                         .trained_tokens = source.config.get_size("max_position_embeddings", 2048)};
  set_facts(facts);
  set_head(decoder_head(source, words_));
}

Value RopeModel::hidden(const ModelInputs& inputs, const Pass& pass) const {
  return decoder_(pass, embed_words(pass, kInputsEmbeds, words_, inputs.input_ids),
                  inputs.attention_mask);
}

}  // namespace fovea
