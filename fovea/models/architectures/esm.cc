// ESM-2 and ESM-1b, models of proteins (Lin et al. 2023; Rives et al. 2021): BERT's names, norms
// before each part, rotary positions, and words that shrink as more of them are masked.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/layers/text_stack.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

// Files of transformers 5 have the names of the first checkpoints again.
constexpr Rename kEsmNames[] = {{"LayerNorm.gamma", "LayerNorm.weight"},
                                {"LayerNorm.beta", "LayerNorm.bias"}};

void check_esm(const Config& config) {
  if (config.get_bool("is_folding_model", false) || config.get_bool("add_cross_attention", false)) {
    fail(ErrorKind::kUnsupported,
         "{}: is a model that folds proteins or reads another's states; of ESM fovea runs the "
         "language models",
         config.source());
  }
}

PreNormBlock load_esm_block(const LayerSource& source, const Config& config,
                            const AttentionSizes& sizes, double epsilon) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const LayerSource attention = source["attention"];
  std::vector<ops::Linear> projections;
  for (const char* part : {"query", "key", "value"}) {
    projections.push_back(load_linear(attention["self"][part], width, width));
  }
  return {Norm::layer(attention["LayerNorm"], width, epsilon),
          AttentionLayer(sizes, std::move(projections),
                         load_linear(attention["output.dense"], width, width)),
          Norm::layer(source["LayerNorm"], width, epsilon),
          FeedForward(load_linear(source["intermediate.dense"], width, inner),
                      load_linear(source["output.dense"], inner, width), Activation::kGelu)};
}

// The frequencies are a buffer that files hold, once or in every layer.
RotaryEmbedding load_esm_rotary(const LayerSource& base, const Config& config, int64_t head_dim) {
  for (const char* name :
       {"rotary_embeddings.inv_freq", "encoder.layer.0.attention.self.rotary_embeddings.inv_freq",
        "encoder.layer.*.attention.self.rotary_embeddings.inv_freq"}) {
    if (base.weights.has(name)) {
      return RotaryEmbedding::of_frequencies(
          load_vector(base, name, (head_dim + 1) / 2).values<float>());
    }
  }
  return RotaryEmbedding::of(config, head_dim);
}

TextStack load_esm_stack(const LayerSource& base, const Config& config, const AttentionSizes& sizes,
                         bool rotary) {
  const double epsilon = config.get_double("layer_norm_eps", 1e-12);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    layers.push_back({load_esm_block(base["encoder.layer"][i], config, sizes, epsilon)});
  }
  TextScores scores{.scale = sizes.scale(), .causal = config.get_bool("is_decoder", false)};
  if (rotary) scores.rotary.push_back(load_esm_rotary(base, config, sizes.head_dim));
  return {std::move(scores), std::move(layers)};
}

class Esm final : public TextModel {
 public:
  explicit Esm(const ModelSource& source)
      : Esm(source, source.weights.renamed(kEsmNames).below_one_of(
                        {"esm.", ""}, "embeddings.word_embeddings.weight")) {}

 private:
  Esm(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        rotary_(source.config.get_string("position_embedding_type", "absolute") == "rotary"),
        padding_(source.config.get_int("pad_token_id", 1)),
        sizes_(AttentionSizes::equal_heads(source.config)),
        words_(load_table(base["embeddings.word_embeddings"], source.config.get_size("vocab_size"),
                          sizes_.width)),
        stack_(load_esm_stack(base, source.config, sizes_, rotary_)) {
    const Config& config = source.config;
    check_esm(config);
    const double epsilon = config.get_double("layer_norm_eps", 1e-12);
    if (config.get_bool("token_dropout", false)) {
      mask_token_ = config.get_int("mask_token_id");
    }
    if (config.get_bool("emb_layer_norm_before", false)) {
      words_norm_ = Norm::layer(base["embeddings.layer_norm"], sizes_.width, epsilon);
    }
    norm_ = Norm::layer(base["encoder.emb_layer_norm_after"], sizes_.width, epsilon);
    int64_t most = 0;
    if (!rotary_) {
      positions_ = load_table(base["embeddings.position_embeddings"],
                              config.get_size("max_position_embeddings", 1026), sizes_.width);
      most = positions_.size(0) - padding_ - 1;
      if (padding_ < 0 || most < 1) {
        fail(ErrorKind::kBadFile,
             "{}: pad_token_id is {} but positions count from behind it and there are {}",
             config.source(), padding_, positions_.size(0));
      }
    }
    ModelFacts facts = text_facts(sizes_, stack_.layers(), words_.size(0), most, stack_.causal());
    facts.main.rotary = rotary_;
    facts.text->trained_tokens = config.get_size("max_position_embeddings", 1026);
    set_facts(facts);
    set_head(roberta_head(source, words_, epsilon));
  }

  // In training 80 % of 15 % of the words were masked. What is masked is 0, and the others are
  // scaled as if as many were masked as then. Words of padding are 0 in the end.
  Value scaled_words(const Value& words, const ModelInputs& inputs) const {
    constexpr double kMaskedInTraining = 0.15 * 0.8;
    const std::vector<int64_t>& mask = inputs.attention_mask;
    const auto length = mask.empty() ? inputs.tokens() : std::ranges::count(mask, 1);
    const auto masked = std::ranges::count(inputs.input_ids, *mask_token_);
    const float observed = static_cast<float>(masked) / static_cast<float>(length);
    const auto factor = static_cast<float>((1 - kMaskedInTraining) / (1 - observed));
    std::vector<float> factors;
    for (const int64_t id : inputs.input_ids) factors.push_back(id == *mask_token_ ? 0 : factor);
    return scale_rows(words, factors);
  }

  static Value scale_rows(const Value& x, const std::vector<float>& factors) {
    Tensor all = Tensor::uninitialized(x.shape());
    const auto width = static_cast<size_t>(x.shape()[1]);
    for (size_t row = 0; row < factors.size(); ++row) {
      std::ranges::fill(all.mutable_values<float>().subspan(row * width, width), factors[row]);
    }
    return ops::multiply(x, all);
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    Value x = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    if (mask_token_) x = scaled_words(x, inputs);
    if (!rotary_) {
      x = ops::add(
          x, ops::embedding(positions_, places_behind_padding(inputs.input_ids, pass, padding_)));
    }
    if (words_norm_) x = (*words_norm_)(x);
    if (!inputs.attention_mask.empty()) {
      x = scale_rows(x, {inputs.attention_mask.begin(), inputs.attention_mask.end()});
    }
    return (*norm_)(stack_(pass, x, inputs.attention_mask));
  }

  bool rotary_;
  int64_t padding_;
  AttentionSizes sizes_;
  StoredMatrix words_, positions_;
  std::optional<int64_t> mask_token_;  // if words are scaled by how many are masked
  std::optional<Norm> words_norm_;
  TextStack stack_;
  std::optional<Norm> norm_;
};

}  // namespace

Architecture esm_architecture() {
  return {.name = "esm",
          .covers = "ESM-2, ESM-1b",
          .model_types = {"esm"},
          .not_needed = {"position_ids", "position_embeddings", "pooler", "contact_head",
                         "rotary_embeddings.inv_freq", "lm_head.decoder", "lm_head.bias"},
          .build = &build_model<Esm>};
}

}  // namespace fovea
