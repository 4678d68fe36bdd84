// ModernBERT (Warner et al. 2024, arXiv:2412.13663): norms before each part, a window on two of
// three layers, rotary positions, gated feed-forward parts.
#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/rope_decoder.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/linear.h"

namespace fovea {
namespace {

struct ModernBertParts {
  AttentionSizes sizes;
  double epsilon;
  bool norm_bias;

  explicit ModernBertParts(const Config& config)
      : sizes(AttentionSizes::equal_heads(config)),
        epsilon(config.get_double("norm_eps", 1e-5)),
        norm_bias(config.get_bool("norm_bias", false)) {}

  Norm norm(const LayerSource& source) const {
    return Norm::layer(source, sizes.width, epsilon, norm_bias);
  }

  PreNormBlock block(const LayerSource& source, const Config& config, bool is_first) const {
    const int64_t width = sizes.width;
    const bool bias = config.get_bool("attention_bias", false);
    // The words are normalised already.
    std::optional<Norm> attention_norm;
    if (!is_first) attention_norm = norm(source["attn_norm"]);
    return {std::move(attention_norm),
            AttentionLayer(sizes, {load_linear(source["attn.Wqkv"], width, 3 * width, bias)},
                           load_linear(source["attn.Wo"], width, width, bias)),
            norm(source["mlp_norm"]),
            GatedFeedForward::joined(source["mlp.Wi"], source["mlp.Wo"], width,
                                     config.get_size("intermediate_size"),
                                     activation_named(config, "hidden_activation", "gelu"),
                                     config.get_bool("mlp_bias", false))};
  }

  TextStack stack(const LayerSource& base, const Config& config) const {
    const int64_t half = config.get_size("local_attention", 128) / 2;
    const int64_t every = config.get_size("global_attn_every_n_layers", 3);
    const std::vector<std::string> types = config.get_strings("layer_types");
    const int64_t count = layer_count(config);
    if (!types.empty() && static_cast<int64_t>(types.size()) != count) {
      fail(ErrorKind::kBadFile, "{}: layer_types has {} entries but num_hidden_layers is {}",
           config.source(), types.size(), count);
    }
    std::vector<TextLayer> layers;
    for (int64_t i = 0; i < count; ++i) {
      const bool local =
          types.empty() ? i % every != 0 : types[static_cast<size_t>(i)] == "sliding_attention";
      layers.push_back({.block = block(base["layers"][i], config, i == 0),
                        .reach = local ? std::optional<int64_t>(half) : std::nullopt,
                        .rotary = local ? 1 : 0});
    }
    const double global = config.get_double("global_rope_theta", 160000);
    const double local = config.get_double("local_rope_theta", 10000);
    return {{.scale = sizes.scale(),
             .causal = false,
             .rotary = {RotaryEmbedding::of(config, sizes.head_dim, global, "full_attention"),
                        RotaryEmbedding::of(config, sizes.head_dim, local, "sliding_attention")}},
            std::move(layers)};
  }
};

// The mean of the rows that are not padding, [1, width].
Value mean_without_padding(const Value& x, std::span<const int64_t> mask) {
  const int64_t rows = x.shape()[0];
  Tensor shares({1, rows});
  const std::span<float> values = shares.mutable_values<float>();
  float count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = mask.empty() || mask[i] != 0 ? 1 : 0;
    count += values[i];
  }
  for (float& value : values) value /= count;
  return ops::linear(shares, ops::transpose(x, 0, 1));
}

class ModernBert final : public TextModel {
 public:
  explicit ModernBert(const ModelSource& source)
      : ModernBert(source,
                   source.weights.below_one_of({"model.", ""}, "embeddings.tok_embeddings.weight"),
                   ModernBertParts(source.config)) {}

 private:
  ModernBert(const ModelSource& source, const LayerSource& base, const ModernBertParts& parts)
      : TextModel(source),
        words_(load_table(base["embeddings.tok_embeddings"], source.config.get_size("vocab_size"),
                          parts.sizes.width)),
        words_norm_(parts.norm(base["embeddings.norm"])),
        stack_(parts.stack(base, source.config)),
        norm_(parts.norm(base["final_norm"])) {
    ModelFacts facts = text_facts(parts.sizes, stack_.layers(), words_.size(0), 0,
                                  /*causal=*/false);
    facts.main.rotary = true;
    facts.text->trained_tokens = source.config.get_size("max_position_embeddings", 8192);
    set_facts(facts);
    set_head(load_head(source, parts));
  }

  TextHead load_head(const ModelSource& source, const ModernBertParts& parts) const {
    const Config& config = source.config;
    const LayerSource& all = source.weights;
    const int64_t width = parts.sizes.width;
    const auto load_transform = [&] {
      return WordTransform(
          load_linear(all["head.dense"], width, width, config.get_bool("classifier_bias", false)),
          activation_named(config, "classifier_activation", "gelu"), parts.norm(all["head.norm"]));
    };
    if (source.is("ForMaskedLM", "head.dense.weight")) {
      const LayerSource decoder = all["decoder"];
      return word_head(HeadKind::kMaskedLm,
                       WordScores(word_weights(config, decoder, {"weight"}, words_),
                                  config.get_bool("decoder_bias", true)
                                      ? load_vector(decoder, "bias", words_.size(0))
                                      : Tensor(),
                                  all.compute),
                       load_transform());
    }
    const bool tokens = source.is("ForTokenClassification", "");
    if (!tokens && !source.is("ForSequenceClassification", "")) return {};
    const bool mean = config.get_string("classifier_pooling", "cls") == "mean";
    return {tokens ? HeadKind::kTokenClass : HeadKind::kSequenceClass,
            [transform = load_transform(), tokens, mean,
             classifier = load_linear(all["classifier"], width, label_count(config))](
                const Value& hidden, const ModelInputs& inputs, LogitRows rows) {
              if (tokens) return classifier(transform(rows_for_logits(hidden, rows)));
              const Value pooled =
                  mean ? mean_without_padding(hidden, inputs.attention_mask) : row_of(hidden, 0);
              return as_vector(classifier(transform(pooled)));
            }};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const Value words = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    return norm_(stack_(pass, words_norm_(words), inputs.attention_mask));
  }

  StoredMatrix words_;
  Norm words_norm_;
  TextStack stack_;
  Norm norm_;
};

}  // namespace

Architecture modernbert_architecture() {
  return {.name = "modernbert",
          .covers = "ModernBERT",
          .model_types = {"modernbert"},
          .not_needed = {"decoder.weight", "head", "rotary_emb.inv_freq"},
          .build = &build_model<ModernBert>};
}

}  // namespace fovea
