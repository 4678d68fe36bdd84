// BERT and its kin: all that is special about BERT (Devlin et al. 2019, arXiv:1810.04805).

#include "fovea/layers/bert_encoder.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

constexpr std::string_view kProbe = "embeddings.word_embeddings.weight";
// The first published checkpoints, converted from TensorFlow.
constexpr Rename kOldNames[] = {{"LayerNorm.gamma", "LayerNorm.weight"},
                                {"LayerNorm.beta", "LayerNorm.bias"}};

class Bert final : public TextModel {
 public:
  explicit Bert(const ModelSource& source) : Bert(source, source.weights.renamed(kOldNames)) {}

 private:
  Bert(const ModelSource& source, const LayerSource& all)
      : Bert(source, all, all.below_one_of({"bert.", ""}, kProbe)) {}

  Bert(const ModelSource& source, const LayerSource& all, const LayerSource& base)
      : TextModel(source),
        causal_(source.config.get_bool("is_decoder", false)),
        embed_(base["embeddings"], source.config, source.config.get_size("hidden_size")),
        encoder_(base, source.config) {
    ModelFacts facts = text_facts(encoder_.sizes(), encoder_.layers(), embed_.words().size(0),
                                  embed_.positions(), causal_);
    facts.text->takes_segments = true;
    set_facts(facts);
    set_head(load_head(source, all, base));
  }

  TextHead load_head(const ModelSource& source, const LayerSource& all,
                     const LayerSource& base) const {
    const Config& config = source.config;
    const int64_t width = encoder_.sizes().width;
    const bool masked = source.is("ForMaskedLM", "cls.predictions.transform.dense.weight") ||
                        source.is("ForPreTraining", "");
    if (masked || source.is("LMHeadModel", "")) {
      const LayerSource head = all["cls.predictions"];
      const WordTransform transform(load_linear(head["transform.dense"], width, width),
                                    activation_named(config, "hidden_act", "gelu"),
                                    Norm::layer(head["transform.LayerNorm"], width,
                                                config.get_double("layer_norm_eps", 1e-12)));
      return word_head(masked ? HeadKind::kMaskedLm : HeadKind::kCausalLm,
                       WordScores(word_weights(config, head, {"decoder.weight"}, embed_.words()),
                                  word_bias(config, head, embed_.words().size(0)), all.compute),
                       transform);
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(config)));
    }
    if (source.is("ForSequenceClassification", "classifier.weight")) {
      return first_token_class_head(config, base["pooler.dense"], Activation::kTanh,
                                    all["classifier"], width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, encoder_.sizes().scale(),
                                {.causal = causal_, .attention = inputs.attention_mask});
    const Value x = embed_(pass, inputs.input_ids, inputs.token_type_ids,
                           token_positions(pass, inputs.tokens()));
    return encoder_(pass, x, {.rule = rule});
  }

  bool causal_;
  BertEmbeddings embed_;
  BertEncoder encoder_;
};

}  // namespace

Architecture bert_architecture() {
  return {.name = "bert",
          .covers = "BERT, MiniLM and the like of sentence-transformers folders",
          .model_types = {"bert"},
          .not_needed = {"position_ids", "pooler", "cls.seq_relationship",
                         "cls.predictions.decoder", "cls.predictions.bias"},
          .build = &build_model<Bert>};
}

}  // namespace fovea
