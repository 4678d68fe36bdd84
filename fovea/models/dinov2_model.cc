#include "fovea/models/dinov2_model.h"

#include <array>

#include "fovea/base/error.h"
#include "fovea/layers/heads.h"
#include "fovea/layers/layer_scale.h"
#include "fovea/layers/run_block.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

// transformers 5.22 calls them so; files on the hub have the names of the versions before.
constexpr std::array<Rename, 5> kNewDinov2Names{{{"attention.q_proj", "attention.attention.query"},
                                                 {"attention.k_proj", "attention.attention.key"},
                                                 {"attention.v_proj", "attention.attention.value"},
                                                 {"attention.o_proj", "attention.output.dense"},
                                                 {"mlp.down_proj", "mlp.weights_out"}}};

ModelSource dinov2_defaults(const ModelSource& source, const Dinov2Model::Options& options) {
  return {source.config.with_defaults({{"hidden_size", 768},
                                       {"num_hidden_layers", 12},
                                       {"num_attention_heads", 12},
                                       {"mlp_ratio", 4},
                                       {"hidden_act", "gelu"},
                                       {"layer_norm_eps", 1e-6},
                                       {"image_size", 224},
                                       {"patch_size", options.patch_size},
                                       {"qkv_bias", true},
                                       {"use_swiglu_ffn", false}}),
          source.weights};
}

// The width inside a block, which mlp_ratio gives.
int64_t inner_width(const Config& config, int64_t width) {
  constexpr double kLargest = 1 << 30;
  const double inner = static_cast<double>(width) * positive_number(config, "mlp_ratio");
  if (inner < 1 || inner > kLargest) {
    fail(ErrorKind::kBadFile, "{}: mlp_ratio makes the width {} to {} inside of blocks",
         config.source(), width, inner);
  }
  return static_cast<int64_t>(inner);
}

// Gate and up are one matrix, or two in newer files.
GatedFeedForward load_swiglu(const LayerSource& source, int64_t width, int64_t inner,
                             ops::Linear down) {
  if (!source.weights.has("weights_in.weight")) {
    return {load_linear(source["gate_proj"], width, inner),
            load_linear(source["up_proj"], width, inner), std::move(down), Activation::kSilu};
  }
  const LayerSource both = source["weights_in"];
  const Value weight = both.weights.tensor("weight", {2 * inner, width}, DType::kF32);
  const Value bias = load_vector(both, "bias", 2 * inner);
  const auto half = [&](int64_t begin) {
    return ops::Linear(ops::slice(weight, 0, begin, begin + inner).tensor,
                       ops::slice(bias, 0, begin, begin + inner).tensor, source.compute);
  };
  return {half(0), half(inner), std::move(down), Activation::kSilu};
}

AnyFeedForward load_dinov2_feed_forward(const LayerSource& source, const Config& config,
                                        int64_t width, const Tensor& scale) {
  int64_t inner = inner_width(config, width);
  if (config.get_bool("use_swiglu_ffn")) {
    // Two thirds of it, to the next multiple of 8.
    inner = (static_cast<int64_t>(static_cast<double>(inner) * 2 / 3) + 7) / 8 * 8;
    return load_swiglu(source, width, inner,
                       load_scaled_linear(source["weights_out"], inner, width, true, scale));
  }
  return FeedForward(load_linear(source["fc1"], width, inner),
                     load_scaled_linear(source["fc2"], inner, width, true, scale),
                     activation_named(config, "hidden_act", "gelu"));
}

PreNormBlock load_dinov2_block(const LayerSource& source, const Config& config,
                               const AttentionSizes& sizes) {
  const int64_t width = sizes.width;
  const double epsilon = config.get_double("layer_norm_eps");
  const bool bias = config.get_bool("qkv_bias");
  const LayerSource attention = source["attention"];
  return {Norm::layer(source["norm1"], width, epsilon),
          AttentionLayer(sizes,
                         {load_linear(attention["attention.query"], width, width, bias),
                          load_linear(attention["attention.key"], width, width, bias),
                          load_linear(attention["attention.value"], width, width, bias)},
                         load_scaled_linear(attention["output.dense"], width, width, true,
                                            load_vector(source["layer_scale1"], "lambda1", width))),
          Norm::layer(source["norm2"], width, epsilon),
          load_dinov2_feed_forward(source["mlp"], config, width,
                                   load_vector(source["layer_scale2"], "lambda1", width))};
}

// Registers have no positions.
PictureEmbedding load_dinov2_embedding(const LayerSource& source, const Config& config,
                                       int64_t width, int64_t registers, BicubicFilter filter) {
  const PatchSizes sizes = PatchSizes::of(config);
  const PositionTable table =
      load_positions(source, "position_embeddings", {1, 1 + sizes.trained_patches(), width}, 1);
  Value front = ops::add(load_front_tokens(source, {{"cls_token"}}, width), table.front);
  if (registers > 0) {
    const Tensor tokens = load_front_tokens(source, {{"register_tokens", registers}}, width);
    front = ops::concat({front, Value(tokens)}, 0);
  }
  PictureEmbedding embed(source["patch_embeddings.projection"], sizes, width, /*bias=*/true,
                         front.tensor);
  embed.set_positions({sizes, table.patches, filter});
  return embed;
}

}  // namespace

Dinov2Model::Dinov2Model(const ModelSource& source, const Options& options)
    : Dinov2Model(dinov2_defaults(source, options), options,
                  source.weights.renamed(kNewDinov2Names)) {}

Dinov2Model::Dinov2Model(const ModelSource& source, const Options& options, const LayerSource& all)
    : Dinov2Model(source, options, all,
                  all.below_one_of({options.prefix, ""}, "embeddings.cls_token")) {}

Dinov2Model::Dinov2Model(const ModelSource& source, const Options& options, const LayerSource& all,
                         const LayerSource& base)
    : PictureModel(source),
      sizes_(AttentionSizes::equal_heads(source.config)),
      registers_(options.registers ? register_count(source.config, 4) : 0),
      embed_(load_dinov2_embedding(base["embeddings"], source.config, sizes_.width, registers_,
                                   options.positions)),
      norm_(Norm::layer(base["layernorm"], sizes_.width,
                        source.config.get_double("layer_norm_eps"))) {
  const int64_t layers = layer_count(source.config);
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.push_back(load_dinov2_block(base["encoder.layer"][i], source.config, sizes_));
  }
  std::vector<std::string> front = register_names(registers_);
  front.insert(front.begin(), "[CLS]");
  set_facts(picture_facts(sizes_, layers, embed_.sizes(), std::move(front)));
  set_pooler([](const Value& states) { return as_vector(row_of(states, 0)); });
  if (source.is("ForImageClassification", "classifier.weight")) {
    set_classes([first = 1 + registers_,
                 classify = load_linear(all["classifier"], 2 * sizes_.width,
                                        label_count(source.config))](const Value& states) {
      return as_vector(classify(ops::concat({row_of(states, 0), mean_of_rows(states, first)}, 1)));
    });
  }
}

PictureStates Dinov2Model::hidden(const Value& pixels, const Pass& pass) const {
  const Value states =
      run_blocks(blocks_, pass, SiteKind::kSelf, embed_(pixels), patch_setting(sizes_));
  return {states, norm_(states)};
}

}  // namespace fovea
