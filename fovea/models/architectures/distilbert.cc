// DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without segments, half as deep, under other
// names.
#include "fovea/layers/norm_block.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr double kEpsilon = 1e-12;  // fixed in the architecture

PostNormBlock load_distilbert_block(const LayerSource& source, const Config& config,
                                    const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("hidden_dim");
  const LayerSource attention = source["attention"];
  return {AttentionLayer(sizes,
                         {load_linear(attention["q_lin"], width, width),
                          load_linear(attention["k_lin"], width, width),
                          load_linear(attention["v_lin"], width, width)},
                         load_linear(attention["out_lin"], width, width)),
          Norm::layer(source["sa_layer_norm"], width, kEpsilon),
          FeedForward(load_linear(source["ffn.lin1"], width, inner),
                      load_linear(source["ffn.lin2"], inner, width),
                      activation_named(config, "activation", "gelu")),
          Norm::layer(source["output_layer_norm"], width, kEpsilon)};
}

class DistilBert final : public TextModel {
 public:
  explicit DistilBert(const ModelSource& source)
      : DistilBert(source, source.weights.below_one_of({"distilbert.", ""},
                                                       "embeddings.word_embeddings.weight")) {}

 private:
  DistilBert(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config, "dim", "n_heads")),
        words_(load_table(base["embeddings.word_embeddings"], source.config.get_size("vocab_size"),
                          sizes_.width)),
        positions_(load_table(base["embeddings.position_embeddings"],
                              source.config.get_size("max_position_embeddings"), sizes_.width)),
        norm_(Norm::layer(base["embeddings.LayerNorm"], sizes_.width, kEpsilon)) {
    const int64_t layers = layer_count(source.config, "n_layers");
    for (int64_t i = 0; i < layers; ++i) {
      blocks_.push_back(load_distilbert_block(base["transformer.layer"][i], source.config, sizes_));
    }
    set_facts(text_facts(sizes_, layers, words_.size(0), positions_.size(0), /*causal=*/false));
    set_head(load_head(source));
  }

  TextHead load_head(const ModelSource& source) const {
    const LayerSource& all = source.weights;
    const int64_t width = sizes_.width;
    if (source.is("ForMaskedLM", "vocab_transform.weight")) {
      return word_head(
          HeadKind::kMaskedLm,
          WordScores(word_weights(source.config, all, {"vocab_projector.weight"}, words_),
                     first_vector(all, {"vocab_projector.bias"}, words_.size(0)), all.compute),
          WordTransform(load_linear(all["vocab_transform"], width, width),
                        activation_named(source.config, "activation", "gelu"),
                        Norm::layer(all["vocab_layer_norm"], width, kEpsilon)));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(source.config)));
    }
    if (source.is("ForSequenceClassification", "pre_classifier.weight")) {
      return first_token_class_head(source.config, all["pre_classifier"], Activation::kRelu,
                                    all["classifier"], width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const auto rule = text_rule(pass, sizes_.scale(), {.attention = inputs.attention_mask});
    const Value x =
        norm_(ops::add(embed_words(pass, kInputsEmbeds, words_, inputs.input_ids),
                       ops::embedding(positions_, token_positions(pass, inputs.tokens()))));
    return run_blocks(blocks_, pass, SiteKind::kSelf, x, {.rule = rule});
  }

  AttentionSizes sizes_;
  StoredMatrix words_, positions_;
  Norm norm_;
  std::vector<PostNormBlock> blocks_;
};

}  // namespace

Architecture distilbert_architecture() {
  return {.name = "distilbert",
          .covers = "DistilBERT",
          .model_types = {"distilbert"},
          .not_needed = {"position_ids", "vocab_projector", "vocab_transform", "vocab_layer_norm"},
          .build = &build_model<DistilBert>};
}

}  // namespace fovea
