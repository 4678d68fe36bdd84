// ALBERT (Lan et al. 2020, arXiv:1909.11942): small embeddings, and layers that share their
// weights.
#include "fovea/base/error.h"
#include "fovea/layers/bert_encoder.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

PostNormBlock load_albert_block(const LayerSource& source, const Config& config,
                                const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const double epsilon = config.get_double("layer_norm_eps", 1e-12);
  const LayerSource attention = source["attention"];
  return {AttentionLayer(sizes,
                         {load_linear(attention["query"], width, width),
                          load_linear(attention["key"], width, width),
                          load_linear(attention["value"], width, width)},
                         load_linear(attention["dense"], width, width)),
          Norm::layer(attention["LayerNorm"], width, epsilon),
          FeedForward(load_linear(source["ffn"], width, inner),
                      load_linear(source["ffn_output"], inner, width),
                      activation_named(config, "hidden_act", "gelu_new")),
          Norm::layer(source["full_layer_layer_norm"], width, epsilon)};
}

class Albert final : public TextModel {
 public:
  explicit Albert(const ModelSource& source)
      : Albert(source,
               source.weights.below_one_of({"albert.", ""}, "embeddings.word_embeddings.weight")) {}

 private:
  Albert(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config)),
        layers_(layer_count(source.config)),
        embed_(base["embeddings"], source.config, source.config.get_size("embedding_size")),
        widen_(load_linear(base["encoder.embedding_hidden_mapping_in"],
                           source.config.get_size("embedding_size"), sizes_.width)) {
    const int64_t groups = source.config.get_size("num_hidden_groups", 1);
    const int64_t inner = source.config.get_size("inner_group_num", 1);
    if (groups > layers_) {
      fail(ErrorKind::kBadFile, "{}: num_hidden_groups is {} but num_hidden_layers only {}",
           source.config.source(), groups, layers_);
    }
    for (int64_t g = 0; g < groups; ++g) {
      std::vector<PostNormBlock>& group = groups_.emplace_back();
      for (int64_t i = 0; i < inner; ++i) {
        group.push_back(load_albert_block(
            base["encoder.albert_layer_groups"][g]["albert_layers"][i], source.config, sizes_));
      }
    }
    ModelFacts facts = text_facts(sizes_, layers_ * inner, embed_.words().size(0),
                                  embed_.positions(), /*causal=*/false);
    facts.text->takes_segments = true;
    set_facts(facts);
    set_head(load_head(source, base));
  }

  TextHead load_head(const ModelSource& source, const LayerSource& base) const {
    const Config& config = source.config;
    const LayerSource& all = source.weights;
    const int64_t width = sizes_.width;
    if (source.is("ForMaskedLM", "predictions.dense.weight") || source.is("ForPreTraining", "")) {
      const int64_t narrow = config.get_size("embedding_size");
      const LayerSource head = all["predictions"];
      return word_head(HeadKind::kMaskedLm,
                       WordScores(word_weights(config, head, {"decoder.weight"}, embed_.words()),
                                  word_bias(config, head, embed_.words().size(0)), all.compute),
                       WordTransform(load_linear(head["dense"], width, narrow),
                                     activation_named(config, "hidden_act", "gelu_new"),
                                     Norm::layer(head["LayerNorm"], narrow,
                                                 config.get_double("layer_norm_eps", 1e-12))));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(config)));
    }
    if (source.is("ForSequenceClassification", "classifier.weight")) {
      return first_token_class_head(config, base["pooler"], Activation::kTanh, all["classifier"],
                                    width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, sizes_.scale(), {.attention = inputs.attention_mask});
    Value x = widen_(embed_(pass, inputs.input_ids, inputs.token_type_ids,
                            token_positions(pass, inputs.tokens())));
    const auto groups = static_cast<int64_t>(groups_.size());
    int site = 0;
    for (int64_t i = 0; i < layers_; ++i) {
      for (const PostNormBlock& block : groups_[static_cast<size_t>(i * groups / layers_)]) {
        x = run_block(pass, x, [&block, site, rule](const Pass& run, const Value& in) {
          return block(run, {SiteKind::kSelf, site}, in, {.rule = rule});
        });
        ++site;
      }
    }
    return x;
  }

  AttentionSizes sizes_;
  int64_t layers_;
  BertEmbeddings embed_;
  ops::Linear widen_;
  std::vector<std::vector<PostNormBlock>> groups_;
};

}  // namespace

Architecture albert_architecture() {
  return {.name = "albert",
          .covers = "ALBERT",
          .model_types = {"albert"},
          .not_needed = {"position_ids", "pooler", "sop_classifier", "predictions"},
          .build = &build_model<Albert>};
}

}  // namespace fovea
