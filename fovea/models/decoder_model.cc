#include "fovea/models/decoder_model.h"

#include "fovea/layers/numeric_input.h"

namespace fovea {
namespace {

class DecoderModel final : public TextModel {
 public:
  DecoderModel(const ModelSource& source, DecoderParts parts, TextHead head)
      : TextModel(source), parts_(std::move(parts)) {
    ModelFacts facts{.main = stack_facts(parts_.sizes, parts_.stack.layers())};
    facts.main.causal = parts_.stack.causal();
    facts.main.rotary = parts_.stack.rotary();
    facts.text =
        TextFacts{.vocabulary = parts_.words.size(0), .trained_tokens = parts_.trained_tokens};
    set_facts(facts);
    set_head(std::move(head));
  }

 private:
  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    Value x = embed_words(pass, kInputsEmbeds, parts_.words, inputs.input_ids, parts_.words_scale);
    if (parts_.words_norm) x = (*parts_.words_norm)(x);
    x = parts_.stack(pass, x, inputs.attention_mask);
    return parts_.norm ? (*parts_.norm)(x) : x;
  }

  DecoderParts parts_;
};

TextHead load_token_class_head(const ModelSource& source, int64_t width) {
  const std::string_view name = source.weights.weights.has("score.weight") ? "score" : "classifier";
  return token_class_head(load_linear(source.weights[name], width, label_count(source.config)));
}

}  // namespace

TextHead decoder_head(const ModelSource& source, const StoredMatrix& words,
                      const DecoderHeadOptions& options) {
  const LayerSource& all = source.weights;
  const int64_t width = words.cols();
  if (source.is("ForCausalLM", "lm_head.weight") || source.is("ForConditionalGeneration", "")) {
    WordScores scores(word_weights(source.config, all, {"lm_head.weight"}, words),
                      options.bias ? load_vector(all["lm_head"], "bias", words.size(0)) : Tensor(),
                      all.compute);
    scores.set_soft_cap(options.soft_cap);
    scores.set_scale(options.scale);
    return word_head(HeadKind::kCausalLm, std::move(scores));
  }
  if (source.is("ForTokenClassification", "")) return load_token_class_head(source, width);
  if (source.is("ForSequenceClassification", "score.weight")) {
    return last_token_class_head(source, width);
  }
  return {};
}

std::unique_ptr<Model> decoder_model(const ModelSource& source, DecoderParts parts, TextHead head) {
  return std::make_unique<DecoderModel>(source, std::move(parts), std::move(head));
}

std::unique_ptr<Model> rope_model(const ModelSource& source, const RopeModelOptions& options) {
  const Config& config = source.config;
  const LayerSource base = source.weights.below_one_of({"model.", ""}, "embed_tokens.weight");
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  DecoderParts parts{
      .sizes = sizes,
      .words = load_table(base["embed_tokens"], config.get_size("vocab_size"), sizes.width),
      .words_scale = options.words_scale,
      .stack = load_rope_stack(base, config, sizes, options.decoder),
      .norm = load_rope_norm(base["norm"], config, sizes.width, options.decoder),
      .trained_tokens = config.get_size("max_position_embeddings", options.trained_tokens)};
  TextHead head = decoder_head(source, parts.words, options.head);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace fovea
