// ELECTRA (Clark et al. 2020, arXiv:2003.10555): BERT's stack over smaller embeddings; the
// discriminator says of each token whether it was replaced.
#include <optional>

#include "fovea/layers/bert_encoder.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

class Electra final : public TextModel {
 public:
  explicit Electra(const ModelSource& source)
      : Electra(source, source.weights.below_one_of({"electra.", ""},
                                                    "embeddings.word_embeddings.weight")) {}

 private:
  Electra(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        causal_(source.config.get_bool("is_decoder", false)),
        embed_(base["embeddings"], source.config, source.config.get_size("embedding_size")),
        encoder_(base, source.config) {
    const int64_t narrow = source.config.get_size("embedding_size");
    const int64_t width = encoder_.sizes().width;
    if (narrow != width) widen_ = load_linear(base["embeddings_project"], narrow, width);
    ModelFacts facts = text_facts(encoder_.sizes(), encoder_.layers(), embed_.words().size(0),
                                  embed_.positions(), causal_);
    facts.text->takes_segments = true;
    set_facts(facts);
    set_head(load_head(source));
  }

  TextHead load_head(const ModelSource& source) const {
    const Config& config = source.config;
    const LayerSource& all = source.weights;
    const int64_t width = encoder_.sizes().width;
    const Activation act = activation_named(config, "hidden_act", "gelu");
    if (source.is("ForPreTraining", "discriminator_predictions.dense.weight")) {
      const LayerSource head = all["discriminator_predictions"];
      return {HeadKind::kTokenClass, [dense = load_linear(head["dense"], width, width),
                                      predict = load_linear(head["dense_prediction"], width, 1),
                                      act](const Value& x, const ModelInputs&, LogitRows rows) {
                return as_vector(predict(dense(rows_for_logits(x, rows), act)));
              }};
    }
    const bool masked = source.is("ForMaskedLM", "generator_predictions.dense.weight");
    if (masked || source.is("ForCausalLM", "")) {
      const int64_t narrow = config.get_size("embedding_size");
      const LayerSource head = all["generator_predictions"];
      return word_head(
          masked ? HeadKind::kMaskedLm : HeadKind::kCausalLm,
          WordScores(word_weights(config, all, {"generator_lm_head.weight"}, embed_.words()),
                     first_vector(all, {"generator_lm_head.bias"}, embed_.words().size(0)),
                     all.compute),
          WordTransform(
              load_linear(head["dense"], width, narrow), Activation::kGelu,
              Norm::layer(head["LayerNorm"], narrow, config.get_double("layer_norm_eps", 1e-12))));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(config)));
    }
    if (source.is("ForSequenceClassification", "classifier.dense.weight")) {
      return first_token_class_head(config, all["classifier.dense"], Activation::kGelu,
                                    all["classifier.out_proj"], width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, encoder_.sizes().scale(),
                                {.causal = causal_, .attention = inputs.attention_mask});
    const Value x = embed_(pass, inputs.input_ids, inputs.token_type_ids,
                           token_positions(pass, inputs.tokens()));
    return encoder_(pass, widen_ ? (*widen_)(x) : x, {.rule = rule});
  }

  bool causal_;
  BertEmbeddings embed_;
  std::optional<ops::Linear> widen_;
  BertEncoder encoder_;
};

}  // namespace

Architecture electra_architecture() {
  return {.name = "electra",
          .covers = "ELECTRA, discriminator and generator",
          .model_types = {"electra"},
          .not_needed = {"position_ids", "generator_lm_head", "generator_predictions",
                         "discriminator_predictions"},
          .build = &build_model<Electra>};
}

}  // namespace fovea
