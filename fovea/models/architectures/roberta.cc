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
    set_head(
        roberta_head(source, embed_.words(), source.config.get_double("layer_norm_eps", 1e-12)));
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, encoder_.sizes().scale(),
                                {.causal = causal_, .attention = inputs.attention_mask});
    return encoder_(pass,
                    embed_(pass, inputs.input_ids, inputs.token_type_ids,
                           places_behind_padding(inputs.input_ids, pass, padding_)),
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
