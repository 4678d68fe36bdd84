// GPT-2 (Radford et al. 2019): the causal decoder with learned positions.
#include "fovea/layers/norm_block.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

class Gpt2 final : public TextModel {
 public:
  explicit Gpt2(const ModelSource& source)
      : Gpt2(source, source.weights.below_one_of({"transformer.", "model.", ""}, "wte.weight")) {}

 private:
  struct Block {
    PreNormBlock parts;
    float scale;
  };

  Gpt2(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config, "n_embd", "n_head")),
        words_(load_table(base["wte"], source.config.get_size("vocab_size"), sizes_.width)),
        positions_(
            load_table(base["wpe"],
                       source.config.get_size("n_positions", source.config.get_size("n_ctx", 1024)),
                       sizes_.width)),
        norm_(Norm::layer(base["ln_f"], sizes_.width,
                          source.config.get_double("layer_norm_epsilon", 1e-5))) {
    const int64_t layers = layer_count(source.config, "n_layer");
    for (int64_t i = 0; i < layers; ++i) {
      blocks_.push_back(load_block(base["h"][i], source.config, i));
    }
    set_facts(text_facts(sizes_, layers, words_.size(0), positions_.size(0), /*causal=*/true));
    set_head(load_head(source));
  }

  Block load_block(const LayerSource& source, const Config& config, int64_t index) const {
    const int64_t width = sizes_.width, inner = config.get_size("n_inner", 4 * width);
    const double epsilon = config.get_double("layer_norm_epsilon", 1e-5);
    float scale = config.get_bool("scale_attn_weights", true) ? sizes_.scale() : 1;
    if (config.get_bool("scale_attn_by_inverse_layer_idx", false)) {
      scale /= static_cast<float>(index + 1);
    }
    return {{Norm::layer(source["ln_1"], width, epsilon),
             AttentionLayer(sizes_, {load_conv1d(source["attn.c_attn"], width, 3 * width)},
                            load_conv1d(source["attn.c_proj"], width, width)),
             Norm::layer(source["ln_2"], width, epsilon),
             FeedForward(load_conv1d(source["mlp.c_fc"], width, inner),
                         load_conv1d(source["mlp.c_proj"], inner, width),
                         activation_named(config, "activation_function", "gelu_new"))},
            scale};
  }

  TextHead load_head(const ModelSource& source) const {
    const LayerSource& all = source.weights;
    const bool scores_classes = source.is("ForSequenceClassification", "score.weight");
    if (scores_classes) {
      return last_token_class_head(source, sizes_.width);
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(
          load_linear(all["classifier"], sizes_.width, label_count(source.config)));
    }
    // The published GPT-2 is a plain stack by its names; its head is the embedding.
    const bool plain = source.is("GPT2Model", "");
    if (plain) return {};
    return word_head(
        HeadKind::kCausalLm,
        WordScores(word_weights(source.config, all, {"lm_head.weight"}, words_), {}, all.compute));
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    Value x = ops::add(embed_words(pass, kInputsEmbeds, words_, inputs.input_ids),
                       ops::embedding(positions_, token_positions(pass, inputs.tokens())));
    if (!inputs.token_type_ids.empty()) {
      x = ops::add(x, ops::embedding(words_, inputs.token_type_ids));
    }
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      const auto rule =
          text_rule(pass, block.scale, {.causal = true, .attention = inputs.attention_mask});
      const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
      x = run_block(pass, x, [&block, site, rule](const Pass& run, const Value& in) {
        return block.parts(run, site, in, {.rule = rule});
      });
    }
    return norm_(x);
  }

  AttentionSizes sizes_;
  StoredMatrix words_, positions_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace

Architecture gpt2_architecture() {
  return {.name = "gpt2",
          .covers = "GPT-2, DistilGPT-2",
          .model_types = {"gpt2"},
          .not_needed = {"attn.bias", "attn.masked_bias", "lm_head", "multiple_choice_head"},
          .build = &build_model<Gpt2>};
}

}  // namespace fovea
