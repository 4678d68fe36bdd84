#include "fovea/models/vit_model.h"

#include <array>

#include "fovea/layers/heads.h"
#include "fovea/layers/run_block.h"
#include "fovea/ops/elementwise.h"

namespace fovea {
namespace {

// transformers 5.22 calls them so; files on the hub have the names of the versions before.
constexpr std::array<Rename, 7> kNewVitNames{{{"layers", "encoder.layer"},
                                              {"attention.q_proj", "attention.attention.query"},
                                              {"attention.k_proj", "attention.attention.key"},
                                              {"attention.v_proj", "attention.attention.value"},
                                              {"attention.o_proj", "attention.output.dense"},
                                              {"mlp.fc1", "intermediate.dense"},
                                              {"mlp.fc2", "output.dense"}}};

ModelSource vit_defaults(const ModelSource& source) {
  return {source.config.with_defaults({{"hidden_size", 768},
                                       {"num_hidden_layers", 12},
                                       {"num_attention_heads", 12},
                                       {"intermediate_size", 3072},
                                       {"hidden_act", "gelu"},
                                       {"layer_norm_eps", 1e-12},
                                       {"image_size", 224},
                                       {"patch_size", 16},
                                       {"qkv_bias", true},
                                       {"pooler_act", "tanh"}}),
          source.weights};
}

PreNormBlock load_vit_block(const LayerSource& source, const Config& config,
                            const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const double epsilon = config.get_double("layer_norm_eps");
  const bool bias = config.get_bool("qkv_bias");
  const LayerSource attention = source["attention"];
  return {Norm::layer(source["layernorm_before"], width, epsilon),
          AttentionLayer(sizes,
                         {load_linear(attention["attention.query"], width, width, bias),
                          load_linear(attention["attention.key"], width, width, bias),
                          load_linear(attention["attention.value"], width, width, bias)},
                         load_linear(attention["output.dense"], width, width)),
          Norm::layer(source["layernorm_after"], width, epsilon),
          FeedForward(load_linear(source["intermediate.dense"], width, inner),
                      load_linear(source["output.dense"], inner, width),
                      activation_named(config, "hidden_act", "gelu"))};
}

PictureEmbedding load_vit_embedding(const LayerSource& source, const Config& config, int64_t width,
                                    bool distilled) {
  const PatchSizes sizes = PatchSizes::of(config);
  const int64_t front = distilled ? 2 : 1;
  const Tensor tokens =
      distilled ? load_front_tokens(source, {{"cls_token"}, {"distillation_token"}}, width)
                : load_front_tokens(source, {{"cls_token"}}, width);
  const PositionTable table = load_positions(source, "position_embeddings",
                                             {1, front + sizes.trained_patches(), width}, front);
  PictureEmbedding embed(source["patch_embeddings.projection"], sizes, width, /*bias=*/true,
                         ops::add(tokens, table.front).tensor);
  embed.set_positions({sizes, table.patches, BicubicFilter::kPlain});
  return embed;
}

}  // namespace

VitModel::VitModel(const ModelSource& source, const Options& options)
    : VitModel(vit_defaults(source), options, source.weights.renamed(kNewVitNames)) {}

VitModel::VitModel(const ModelSource& source, const Options& options, const LayerSource& all)
    : VitModel(source, options, all,
               all.below_one_of({options.prefix, ""}, "embeddings.cls_token")) {}

VitModel::VitModel(const ModelSource& source, const Options& options, const LayerSource& all,
                   const LayerSource& base)
    : PictureModel(source),
      sizes_(AttentionSizes::equal_heads(source.config)),
      embed_(
          load_vit_embedding(base["embeddings"], source.config, sizes_.width, options.distilled)),
      norm_(Norm::layer(base["layernorm"], sizes_.width,
                        source.config.get_double("layer_norm_eps"))) {
  const int64_t layers = layer_count(source.config);
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.push_back(load_vit_block(base["encoder.layer"][i], source.config, sizes_));
  }
  std::vector<std::string> front{"[CLS]"};
  if (options.distilled) front.emplace_back("[DIST]");
  set_facts(picture_facts(sizes_, layers, embed_.sizes(), std::move(front)));
  load_top(source, all, base);
}

void VitModel::load_top(const ModelSource& source, const LayerSource& all,
                        const LayerSource& base) {
  const Config& config = source.config;
  const int64_t width = sizes_.width;
  if (source.is("ForImageClassificationWithTeacher", "distillation_classifier.weight")) {
    const int64_t labels = label_count(config);
    set_classes([by_class = load_linear(all["cls_classifier"], width, labels),
                 by_distillation = load_linear(all["distillation_classifier"], width, labels)](
                    const Value& states) {
      return as_vector(ops::scale(
          ops::add(by_class(row_of(states, 0)), by_distillation(row_of(states, 1))), 0.5F));
    });
  } else if (source.is("ForImageClassification", "classifier.weight")) {
    set_classes([classify = load_linear(all["classifier"], width, label_count(config))](
                    const Value& states) { return as_vector(classify(row_of(states, 0))); });
  } else if (base.weights.has("pooler.dense.weight")) {  // DINO's files have none
    set_pooler([dense = load_linear(base["pooler.dense"], width,
                                    config.get_size("pooler_output_size", width)),
                act = activation_named(config, "pooler_act", "tanh")](const Value& states) {
      return as_vector(dense(row_of(states, 0), act));
    });
  }
}

PictureStates VitModel::hidden(const Value& pixels, const Pass& pass) const {
  const Value states =
      run_blocks(blocks_, pass, SiteKind::kSelf, embed_(pixels), patch_setting(sizes_));
  return {states, norm_(states)};
}

}  // namespace fovea
