#include "fovea/models/deberta_model.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"
#include "fovea/ops/slice.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

// Rows of padding become 0.
Value without_padding(const Value& x, std::span<const int64_t> mask) {
  if (std::ranges::find(mask, 0) == mask.end()) return x;
  Tensor kept = Tensor::uninitialized(x.shape());
  const auto width = static_cast<size_t>(x.shape()[1]);
  for (size_t row = 0; row < mask.size(); ++row) {
    std::ranges::fill(kept.mutable_values<float>().subspan(row * width, width),
                      mask[row] != 0 ? 1.0F : 0.0F);
  }
  return ops::multiply(x, kept);
}

class Deberta final : public TextModel {
 public:
  Deberta(const ModelSource& source, const LayerSource& base, DebertaParts parts)
      : TextModel(source),
        parts_(std::move(parts)),
        words_(load_table(base["embeddings.word_embeddings"], source.config.get_size("vocab_size"),
                          source.config.get_size("embedding_size", parts_.sizes.width))),
        norm_(Norm::layer(base["embeddings.LayerNorm"], parts_.sizes.width, parts_.epsilon)) {
    const Config& config = source.config;
    const LayerSource embeddings = base["embeddings"];
    const int64_t width = words_.cols();
    // Some files store a table that the configuration turns off.
    if (config.get_bool("position_biased_input", true)) {
      positions_ = load_table(embeddings["position_embeddings"],
                              config.get_size("max_position_embeddings"), width);
    }
    if (const int64_t types = config.get_int("type_vocab_size", 0); types > 0) {
      segments_ = load_table(embeddings["token_type_embeddings"], types, width);
    }
    if (width != parts_.sizes.width) {
      projection_ = load_linear(embeddings["embed_proj"], width, parts_.sizes.width, false);
    }
    ModelFacts facts = text_facts(parts_.sizes, static_cast<int64_t>(parts_.layers.size()),
                                  words_.size(0), positions_.empty() ? 0 : positions_.size(0),
                                  /*causal=*/false);
    facts.text->trained_tokens = config.get_size("max_position_embeddings", 512);
    facts.text->takes_segments = !segments_.empty();
    set_facts(facts);
    set_head(load_head(source));
  }

 private:
  TextHead load_words(const ModelSource& source, const LayerSource& dense, const LayerSource& norm,
                      StoredMatrix weights, Tensor bias) const {
    return word_head(HeadKind::kMaskedLm, WordScores(weights, bias, source.weights.compute),
                     WordTransform(load_linear(dense, parts_.sizes.width, words_.cols()),
                                   activation_named(source.config, "hidden_act", "gelu"),
                                   Norm::layer(norm, words_.cols(), parts_.epsilon)));
  }

  TextHead load_head(const ModelSource& source) const {
    const Config& config = source.config;
    const LayerSource& all = source.weights;
    const int64_t width = parts_.sizes.width, count = words_.size(0);
    const LayerSource old = all["cls.predictions"], newer = all["lm_predictions.lm_head"];
    if (source.is("ForMaskedLM", "cls.predictions.transform.dense.weight")) {
      if (config.get_bool("legacy", true)) {
        return load_words(source, old["transform.dense"], old["transform.LayerNorm"],
                          word_weights(config, old, {"decoder.weight"}, words_),
                          word_bias(config, old, count));
      }
      return load_words(source, newer["dense"], newer["LayerNorm"], words_,
                        load_vector(newer, "bias", count));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(config)));
    }
    if (source.is("ForSequenceClassification", "classifier.weight")) {
      return first_token_class_head(config, all["pooler.dense"],
                                    activation_named(config, "pooler_hidden_act", "gelu"),
                                    all["classifier"], width);
    }
    return {};
  }

  Value embed(const ModelInputs& inputs, const Pass& pass) const {
    Value x = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    if (!positions_.empty()) {
      x = ops::add(x, ops::embedding(positions_, token_positions(pass, inputs.tokens())));
    }
    if (!segments_.empty()) {
      const std::vector<int64_t> zeros(inputs.input_ids.size(), 0);
      x = ops::add(
          x,
          ops::embedding(segments_, inputs.token_type_ids.empty() ? zeros : inputs.token_type_ids));
    }
    if (projection_) x = (*projection_)(x);
    return without_padding(norm_(x), inputs.attention_mask);
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    if (segments_.empty() &&
        std::ranges::any_of(inputs.token_type_ids, [](int64_t id) { return id != 0; })) {
      fail(ErrorKind::kInvalidArgument,
           "token_type_ids holds numbers above 0 but this model has no segments");
    }
    return run(embed(inputs, pass), inputs, pass);
  }

  Value run(const Value& embedded, const ModelInputs& inputs, const Pass& pass) const {
    const auto plain = text_rule(pass, parts_.scale, {.attention = inputs.attention_mask});
    RelativePositions::Entries entries;
    if (parts_.positions) entries = parts_.positions->entries(inputs.tokens());
    Value x = embedded;
    for (size_t i = 0; i < parts_.layers.size(); ++i) {
      const DebertaLayer& layer = parts_.layers[i];
      std::shared_ptr<const ScoreRule> rule = plain;
      if (layer.bias) {
        auto own = std::make_shared<ScoreRule>(*plain);
        own->bias = (*layer.bias)(entries);
        rule = own;
      }
      const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
      x = run_block(pass, x, [&layer, site, rule](const Pass& run, const Value& in) {
        return layer.block(run, site, in, {.rule = rule});
      });
      if (i == 0 && parts_.convolution) {
        x = (*parts_.convolution)(embedded, x, inputs.attention_mask);
      }
    }
    return x;
  }

  DebertaParts parts_;
  StoredMatrix words_, positions_, segments_;
  Norm norm_;
  std::optional<ops::Linear> projection_;
};

// "conv.weight" [width, width / groups, kernel] as [width, kernel * width], rows side by side.
ops::Linear load_convolution(const LayerSource& source, int64_t width, int64_t kernel,
                             int64_t groups) {
  const int64_t within = width / groups;
  const Tensor weight = source.weights.tensor("weight", {width, within, kernel}, DType::kF32);
  Tensor wide({width, kernel * width});
  const std::span<const float> from = weight.values<float>();
  const std::span<float> to = wide.mutable_values<float>();
  for (int64_t out = 0; out < width; ++out) {
    const int64_t first = out / within * within;  // the channels of its group
    for (int64_t in = 0; in < within; ++in) {
      for (int64_t k = 0; k < kernel; ++k) {
        to[static_cast<size_t>((out * kernel + k) * width + first + in)] =
            from[static_cast<size_t>((out * within + in) * kernel + k)];
      }
    }
  }
  return ops::Linear(wide, load_vector(source, "bias", width), source.compute);
}

int64_t kernel_size(const Config& config, int64_t width) {
  const int64_t kernel = config.get_size("conv_kernel_size");
  const int64_t groups = config.get_size("conv_groups", 1);
  if (kernel % 2 == 0 || kernel > 31 || width % groups != 0) {
    fail(
        ErrorKind::kBadFile,
        "{}: conv_kernel_size is {} and conv_groups {}; the former must be odd and at most 31, the "
        "latter divide {}",
        config.source(), kernel, groups, width);
  }
  return kernel;
}

}  // namespace

TokenConvolution::TokenConvolution(const LayerSource& source, const Config& config, int64_t width,
                                   double epsilon)
    : kernel_(kernel_size(config, width)),
      linear_(load_convolution(source["conv"], width, kernel_, config.get_size("conv_groups", 1))),
      activation_(activation_named(config, "conv_act", "tanh")),
      norm_(Norm::layer(source["LayerNorm"], width, epsilon)) {}

Value TokenConvolution::operator()(const Value& x, const Value& beside,
                                   std::span<const int64_t> mask) const {
  const int64_t rows = x.shape()[0], width = x.shape()[1], reach = kernel_ / 2;
  const Tensor border({reach, width});
  const Value framed = ops::concat({Value(border), x, Value(border)}, 0);
  std::vector<Value> shifted;
  for (int64_t k = 0; k < kernel_; ++k) shifted.push_back(ops::slice(framed, 0, k, k + rows));
  const Value out = without_padding(linear_(ops::concat(shifted, 1)), mask);
  return without_padding(norm_(ops::add(beside, ops::activation(out, activation_))), mask);
}

std::unique_ptr<Model> deberta_model(const ModelSource& source, const LayerSource& base,
                                     DebertaParts parts) {
  return std::make_unique<Deberta>(source, base, std::move(parts));
}

DebertaParts deberta_parts(const Config& config) {
  DebertaParts parts;
  parts.sizes = AttentionSizes::equal_heads(config);
  parts.epsilon = config.get_double("layer_norm_eps", 1e-7);
  const int terms = 1 + DisentangledTerms::of(config).count();
  parts.scale = 1 / std::sqrt(static_cast<float>(parts.sizes.head_dim * terms));
  return parts;
}

int64_t farthest_distance(const Config& config) {
  const int64_t most = config.get_int("max_relative_positions", -1);
  return most < 1 ? config.get_size("max_position_embeddings")
                  : config.get_size("max_relative_positions");
}

PostNormBlock load_deberta_block(const LayerSource& source, const Config& config,
                                 const DebertaParts& parts, AttentionLayer attention) {
  const int64_t width = parts.sizes.width, inner = config.get_size("intermediate_size");
  return {std::move(attention),
          Norm::layer(source["attention.output.LayerNorm"], width, parts.epsilon),
          FeedForward(load_linear(source["intermediate.dense"], width, inner),
                      load_linear(source["output.dense"], inner, width),
                      activation_named(config, "hidden_act", "gelu")),
          Norm::layer(source["output.LayerNorm"], width, parts.epsilon)};
}

}  // namespace fovea
