// RoBERTa (Liu et al. 2019, arXiv:1907.11692), XLM-RoBERTa and CamemBERT: BERT's stack, other
// positions and heads.

#include "fovea/base/error.h"
#include "fovea/layers/bert_encoder.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

class Roberta final : public TextModel {
 public:
  explicit Roberta(const ModelSource& source)
      : Roberta(source, source.weights.below_one_of({"roberta.", "camembert.", "xlm_roberta.", ""},
                                                    "embeddings.word_embeddings.weight")) {}

 private:
  Roberta(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        padding_(source.config.get_int("pad_token_id", 1)),
        causal_(source.config.get_bool("is_decoder", false)),
        embed_(base["embeddings"], source.config, source.config.get_size("hidden_size")),
        encoder_(base, source.config) {
    if (padding_ < 0 || padding_ + 1 >= embed_.positions()) {
      fail(ErrorKind::kBadFile,
           "{}: pad_token_id is {} but positions count from behind it and there are {}",
           source.config.source(), padding_, embed_.positions());
    }
    set_facts(text_facts(encoder_.sizes(), encoder_.layers(), embed_.words().size(0),
                         embed_.positions() - padding_ - 1, causal_));
    set_head(load_head(source));
  }

  TextHead load_head(const ModelSource& source) const {
    const Config& config = source.config;
    const LayerSource& all = source.weights;
    const int64_t width = encoder_.sizes().width;
    const bool masked = source.is("ForMaskedLM", "lm_head.dense.weight");
    if (masked || source.is("ForCausalLM", "")) {
      const LayerSource head = all["lm_head"];
      return word_head(masked ? HeadKind::kMaskedLm : HeadKind::kCausalLm,
                       WordScores(word_weights(config, head, {"decoder.weight"}, embed_.words()),
                                  word_bias(config, head, embed_.words().size(0)), all.compute),
                       WordTransform(load_linear(head["dense"], width, width), Activation::kGelu,
                                     Norm::layer(head["layer_norm"], width,
                                                 config.get_double("layer_norm_eps", 1e-12))));
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

  // Positions count the tokens that are not padding and begin behind the padding's own number.
  std::vector<int64_t> positions(const ModelInputs& inputs, const Pass& pass) const {
    const int64_t first = first_position(pass);
    std::vector<int64_t> result = token_positions(pass, inputs.tokens());
    int64_t count = first;
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] == first) count = first;  // the next text begins
      result[i] = inputs.input_ids[i] == padding_ ? padding_ : ++count + padding_;
    }
    return result;
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, encoder_.sizes().scale(),
                                {.causal = causal_, .attention = inputs.attention_mask});
    return encoder_(pass,
                    embed_(pass, inputs.input_ids, inputs.token_type_ids, positions(inputs, pass)),
                    {.rule = rule});
  }

  int64_t padding_;
  bool causal_;
  BertEmbeddings embed_;
  BertEncoder encoder_;
};

}  // namespace

Architecture roberta_architecture() {
  return {.name = "roberta",
          .covers = "RoBERTa, XLM-RoBERTa, CamemBERT",
          .model_types = {"roberta", "xlm-roberta", "camembert"},
          .not_needed = {"position_ids", "pooler", "lm_head.decoder", "lm_head.bias"},
          .build = &build_model<Roberta>};
}

}  // namespace fovea
