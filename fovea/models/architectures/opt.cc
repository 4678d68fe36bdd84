// OPT (Zhang et al. 2022, arXiv:2205.01068): GPT-2 with positions that skip padding; words may be
// narrower than the model, and one size has its norms after the residuals.
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/decoder_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr int64_t kOptOffset = 2;  // rows of the table in front of the first position
constexpr double kOptEpsilon = 1e-5;

Norm load_opt_norm(const LayerSource& source, const Config& config, int64_t width) {
  return config.get_bool("layer_norm_elementwise_affine", true)
             ? Norm::layer(source, width, kOptEpsilon)
             : Norm::plain(kOptEpsilon);
}

AnyBlock load_opt_block(const LayerSource& source, const Config& config,
                        const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("ffn_dim");
  const bool bias = config.get_bool("enable_bias", true);
  const LayerSource parts = source["self_attn"];
  AttentionLayer attention(sizes, load_query_key_value(parts, sizes, bias),
                           load_linear(parts["out_proj"], width, width, bias));
  Norm attention_norm = load_opt_norm(source["self_attn_layer_norm"], config, width);
  FeedForward feed_forward(load_linear(source["fc1"], width, inner, bias),
                           load_linear(source["fc2"], inner, width, bias),
                           activation_named(config, "activation_function", "relu"));
  Norm output_norm = load_opt_norm(source["final_layer_norm"], config, width);
  if (config.get_bool("do_layer_norm_before", true)) {
    return PreNormBlock(std::move(attention_norm), std::move(attention), std::move(output_norm),
                        std::move(feed_forward));
  }
  return PostNormBlock(std::move(attention), std::move(attention_norm), std::move(feed_forward),
                       std::move(output_norm));
}

TextStack load_opt_stack(const LayerSource& base, const Config& config,
                         const AttentionSizes& sizes) {
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({load_opt_block(base["layers"][i], config, sizes)});
  }
  return {{.scale = sizes.scale()}, std::move(layers)};
}

class Opt final : public TextModel {
 public:
  explicit Opt(const ModelSource& source)
      : Opt(source, source.weights.below_one_of({"model.decoder.", "decoder.", ""},
                                                "embed_tokens.weight")) {}

 private:
  Opt(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config)),
        words_(load_table(base["embed_tokens"], source.config.get_size("vocab_size"),
                          source.config.get_size("word_embed_proj_dim", sizes_.width))),
        positions_(load_table(base["embed_positions"],
                              source.config.get_size("max_position_embeddings") + kOptOffset,
                              sizes_.width)),
        stack_(load_opt_stack(base, source.config, sizes_)) {
    const Config& config = source.config;
    if (words_.cols() != sizes_.width) {
      project_in_ = load_linear(base["project_in"], words_.cols(), sizes_.width, /*bias=*/false);
      project_out_ = load_linear(base["project_out"], sizes_.width, words_.cols(), /*bias=*/false);
    }
    if (config.get_bool("do_layer_norm_before", true) &&
        !config.get_bool("_remove_final_layer_norm", false)) {
      norm_ = load_opt_norm(base["final_layer_norm"], config, sizes_.width);
    }
    set_facts(text_facts(sizes_, stack_.layers(), words_.size(0), positions_.size(0) - kOptOffset,
                         /*causal=*/true));
    set_head(decoder_head(source, words_));
  }

  // Padding stands on the row in front of the first position.
  std::vector<int64_t> places(const ModelInputs& inputs, const Pass& pass) const {
    std::vector<int64_t> places = token_positions(pass, inputs.tokens());
    if (!inputs.attention_mask.empty()) {
      int64_t count = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        places[i] = inputs.attention_mask[i] != 0 ? count++ : -1;
      }
    }
    for (int64_t& place : places) place += kOptOffset;
    return places;
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    Value x = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    if (project_in_) x = (*project_in_)(x);
    x = ops::add(x, ops::embedding(positions_, places(inputs, pass)));
    x = stack_(pass, x, inputs.attention_mask);
    if (norm_) x = (*norm_)(x);
    return project_out_ ? (*project_out_)(x) : x;
  }

  AttentionSizes sizes_;
  StoredMatrix words_, positions_;
  std::optional<ops::Linear> project_in_, project_out_;
  TextStack stack_;
  std::optional<Norm> norm_;
};

}  // namespace

Architecture opt_architecture() {
  return {.name = "opt",
          .covers = "OPT",
          .model_types = {"opt"},
          .not_needed = {"lm_head"},
          .build = &build_model<Opt>};
}

}  // namespace fovea
