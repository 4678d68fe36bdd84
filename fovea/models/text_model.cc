#include "fovea/models/text_model.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/check_inputs.h"

namespace fovea {
namespace {

// fovea itself gives the lengths. Inputs that cannot be split between texts are refused.
void check_packed(const ModelInputs& inputs, const Pass& pass) {
  const int64_t sum = std::accumulate(pass.texts.begin(), pass.texts.end(), int64_t{0});
  if (sum == inputs.tokens() && pass.cache == nullptr && inputs.attention_mask.empty() &&
      pass.logits == LogitRows::kNone) {
    return;
  }
  fail(ErrorKind::kInvalidArgument,
       "{} texts of {} tokens in all stand in {} tokens; they must fill them, without padding and "
       "logits",
       pass.texts.size(), sum, inputs.tokens());
}

}  // namespace

ModelFacts text_facts(const AttentionSizes& sizes, int64_t layers, int64_t vocabulary,
                      int64_t positions, bool causal) {
  ModelFacts facts{.main = stack_facts(sizes, layers)};
  facts.main.causal = causal;
  facts.text =
      TextFacts{.vocabulary = vocabulary, .most_tokens = positions, .trained_tokens = positions};
  return facts;
}

TextModel::TextModel(const ModelSource& source) : config_(source.config) {}

void TextModel::set_head(TextHead head) {
  head_ = std::move(head);
  facts_.head = head_.kind;
}

void TextModel::check(const ModelInputs& inputs, const Pass& pass) const {
  refuse_inputs("a model of one text", inputs,
                {"decoder_input_ids", "decoder_attention_mask", "input_features", "pixel_values",
                 "pixel_mask"});
  check_ids(config_, inputs.input_ids, facts_.text->vocabulary);
  check_beside("token_type_ids", inputs.token_type_ids, "input_ids", inputs.tokens());
  if (pass.cache == nullptr) {
    check_beside("attention_mask", inputs.attention_mask, "input_ids", inputs.tokens());
  } else if (!facts_.main.causal || !inputs.attention_mask.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "text is written word by word only by causal models and without padding");
  }
  if (!pass.texts.empty()) check_packed(inputs, pass);
  const int64_t longest =
      pass.texts.empty() ? inputs.tokens() : *std::ranges::max_element(pass.texts);
  if (const int64_t most = facts_.text->most_tokens; most > 0) {
    check_length(config_, first_position(pass) + longest, most);
  }
}

ModelOutputs TextModel::forward(const ModelInputs& inputs, const Pass& pass) const {
  check(inputs, pass);
  ModelOutputs outputs;
  outputs.last_hidden_state = hidden(inputs, pass);
  if (pass.cache != nullptr) pass.cache->advance(inputs.tokens());
  if (head_.logits && pass.logits != LogitRows::kNone) {
    outputs.logits = head_.logits(outputs.last_hidden_state, inputs, pass.logits);
  }
  return outputs;
}

TextHead word_head(HeadKind kind, WordScores scores, std::function<Value(const Value&)> transform) {
  return {kind, [scores = std::move(scores), transform = std::move(transform)](
                    const Value& hidden, const ModelInputs&, LogitRows rows) {
            const Value x = rows_for_logits(hidden, rows);
            return scores(transform ? transform(x) : x);
          }};
}

TextHead first_token_class_head(const Config& config, const LayerSource& dense,
                                Activation activation, const LayerSource& out, int64_t width) {
  return {HeadKind::kSequenceClass, [dense = load_linear(dense, width, width), activation,
                                     out = load_linear(out, width, label_count(config))](
                                        const Value& hidden, const ModelInputs&, LogitRows) {
            return as_vector(out(dense(row_of(hidden, 0), activation)));
          }};
}

TextHead roberta_head(const ModelSource& source, const StoredMatrix& words, double epsilon) {
  const Config& config = source.config;
  const LayerSource& all = source.weights;
  const int64_t width = words.cols();
  const bool masked = source.is("ForMaskedLM", "lm_head.dense.weight");
  if (masked || source.is("ForCausalLM", "")) {
    const LayerSource head = all["lm_head"];
    return word_head(masked ? HeadKind::kMaskedLm : HeadKind::kCausalLm,
                     WordScores(word_weights(config, head, {"decoder.weight"}, words),
                                word_bias(config, head, words.size(0)), all.compute),
                     WordTransform(load_linear(head["dense"], width, width), Activation::kGelu,
                                   Norm::layer(head["layer_norm"], width, epsilon)));
  }
  if (source.is("ForTokenClassification", "")) {
    return token_class_head(load_linear(all["classifier"], width, label_count(config)));
  }
  if (source.is("ForSequenceClassification", "classifier.dense.weight")) {
    return first_token_class_head(config, all["classifier.dense"], Activation::kTanh,
                                  all["classifier.out_proj"], width);
  }
  return {};
}

TextHead last_token_class_head(const ModelSource& source, int64_t width) {
  return {HeadKind::kSequenceClass,
          [config = source.config, score = load_linear(source.weights["score"], width,
                                                       label_count(source.config), /*bias=*/false)](
              const Value& hidden, const ModelInputs& inputs, LogitRows) {
            return as_vector(score(row_of(hidden, last_real_token(config, inputs))));
          }};
}

TextHead token_class_head(ops::Linear classifier) {
  return {HeadKind::kTokenClass, [classifier = std::move(classifier)](
                                     const Value& hidden, const ModelInputs&, LogitRows rows) {
            return classifier(rows_for_logits(hidden, rows));
          }};
}

StoredMatrix word_weights(const Config& config, const LayerSource& source,
                          std::initializer_list<std::string_view> names, const StoredMatrix& tied) {
  for (const std::string_view name : names) {
    if (source.weights.has(name)) return source.weights.matrix(name, tied.shape());
  }
  if (config.get_bool("tie_word_embeddings", true)) return tied;
  return source.weights.matrix(*names.begin(), tied.shape());  // says that it is missing
}

Tensor word_bias(const Config& config, const LayerSource& head, int64_t size) {
  return config.get_bool("tie_word_embeddings", true)
             ? first_vector(head, {"bias", "decoder.bias"}, size)
             : first_vector(head, {"decoder.bias", "bias"}, size);
}

Tensor first_vector(const LayerSource& source, std::initializer_list<std::string_view> names,
                    int64_t size) {
  for (const std::string_view name : names) {
    if (source.weights.has(name)) return load_vector(source, name, size);
  }
  return {};
}

}  // namespace fovea
