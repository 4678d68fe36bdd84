// CLIP (Radford et al. 2021, arXiv:2103.00020): a picture and a text tower, or one of them alone.
#include <algorithm>

#include "fovea/layers/clip_stack.h"
#include "fovea/layers/heads.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/models/tower_model.h"
#include "fovea/ops/elementwise.h"

namespace fovea {
namespace {

Config picture_defaults(const Config& config) {
  return config.with_defaults({{"hidden_size", 768},
                               {"intermediate_size", 3072},
                               {"projection_dim", 512},
                               {"num_hidden_layers", 12},
                               {"num_attention_heads", 12},
                               {"image_size", 224},
                               {"patch_size", 32},
                               {"hidden_act", "quick_gelu"},
                               {"layer_norm_eps", 1e-5}});
}

Config text_defaults(const Config& config) {
  return config.with_defaults({{"vocab_size", 49408},
                               {"hidden_size", 512},
                               {"intermediate_size", 2048},
                               {"projection_dim", 512},
                               {"num_hidden_layers", 12},
                               {"num_attention_heads", 8},
                               {"max_position_embeddings", 77},
                               {"hidden_act", "quick_gelu"},
                               {"layer_norm_eps", 1e-5},
                               {"eos_token_id", 49407}});
}

// The section of a tower. Old files repeat parts of it under "text_config_dict", which then counts
// alone.
Config clip_section(const Config& config, std::string_view key) {
  for (const std::string& name : {fmt::format("{}_dict", key), std::string(key)}) {
    if (std::optional<Config> section = config.find_section(name)) return *section;
  }
  return Config(Json::object(), config.source());
}

struct ClipPictureTower {
  ClipPictureTower(const LayerSource& source, const Config& config)
      : stack(source, config),
        embed(load_embedding(source["embeddings"], PatchSizes::of(config), stack.sizes.width)),
        // The name is so in all files.
        first_norm(Norm::layer(source["pre_layrnorm"], stack.sizes.width,
                               config.get_double("layer_norm_eps"))),
        pooled_norm(Norm::layer(source["post_layernorm"], stack.sizes.width,
                                config.get_double("layer_norm_eps"))) {}

  static PictureEmbedding load_embedding(const LayerSource& source, const PatchSizes& sizes,
                                         int64_t width) {
    const PositionTable table = load_positions(source["position_embedding"], "weight",
                                               {1 + sizes.trained_patches(), width}, 1);
    const Tensor token = load_vector(source, "class_embedding", width).reshaped({1, width});
    PictureEmbedding embed(source["patch_embedding"], sizes, width, /*bias=*/false,
                           ops::add(token, table.front).tensor);
    embed.set_positions({sizes, table.patches, BicubicFilter::kPlain});
    return embed;
  }

  TowerOutputs operator()(const ModelInputs& inputs, const Pass& pass, SiteKind kind) const {
    const Value states =
        run_blocks(stack.blocks, pass, kind,
                   first_norm(embed(numeric_input(pass, kPixelValues, inputs.pixel_values))),
                   patch_setting(stack.sizes));
    return {states, pooled_norm(row_of(states, 0)), states};
  }

  ClipStack stack;
  PictureEmbedding embed;
  Norm first_norm, pooled_norm;
};

struct ClipTextTower {
  ClipTextTower(const LayerSource& source, const Config& config)
      : stack(source, config),
        embed(source["embeddings"], config),
        norm(Norm::layer(source["final_layer_norm"], stack.sizes.width,
                         config.get_double("layer_norm_eps"))),
        end_id(config.get_int("eos_token_id")) {}

  // Where the text ends: its first eos_token_id. Configurations before 2023 say 2, which is none of
  // the tokenizer's; they mean the largest id.
  int64_t end_of(std::span<const int64_t> ids) const {
    constexpr int64_t kOldEndId = 2;
    if (end_id == kOldEndId) return std::ranges::max_element(ids) - ids.begin();
    const auto end = std::ranges::find(ids, end_id);
    return end == ids.end() ? 0 : end - ids.begin();
  }

  TowerOutputs operator()(const ModelInputs& inputs, const Pass& pass, SiteKind kind) const {
    const auto rule =
        text_rule(pass, stack.sizes.scale(), {.causal = true, .attention = inputs.attention_mask});
    const Value states =
        norm(run_blocks(stack.blocks, pass, kind, embed(pass, inputs.input_ids), {.rule = rule}));
    return {states, row_of(states, end_of(inputs.input_ids)), {}};
  }

  ClipStack stack;
  ClipTextEmbeddings embed;
  Norm norm;
  int64_t end_id;
};

// Towers alone are stored with and without the prefix.
Tower load_clip_picture_tower(const LayerSource& all, const Config& config) {
  const ClipPictureTower tower(
      all.below_one_of({"vision_model.", ""}, "embeddings.class_embedding"), config);
  const auto layers = static_cast<int64_t>(tower.stack.blocks.size());
  return {.facts = picture_facts(tower.stack.sizes, layers, tower.embed.sizes(), {"[CLS]"}),
          .run = tower};
}

Tower load_clip_text_tower(const LayerSource& all, const Config& config) {
  const ClipTextTower tower(
      all.below_one_of({"text_model.", ""}, "embeddings.token_embedding.weight"), config);
  return {.facts =
              text_facts(tower.stack.sizes, static_cast<int64_t>(tower.stack.blocks.size()),
                         tower.embed.words.size(0), tower.embed.positions.size(0), /*causal=*/true),
          .run = tower};
}

void add_projection(Tower& tower, const LayerSource& source, const Config& config) {
  tower.embed = load_linear(source, tower.facts.main.width, config.get_size("projection_dim", 512),
                            /*bias=*/false);
}

std::unique_ptr<Model> build_clip(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource& all = source.weights;
  if (config.model_type() == "clip_vision_model") {
    Tower tower = load_clip_picture_tower(all, picture_defaults(config));
    if (source.is("WithProjection", "visual_projection.weight")) {
      add_projection(tower, all["visual_projection"], config);
    }
    return std::make_unique<TowerModel>(config, std::move(tower));
  }
  if (config.model_type() == "clip_text_model") {
    Tower tower = load_clip_text_tower(all, text_defaults(config));
    if (source.is("WithProjection", "text_projection.weight")) {
      add_projection(tower, all["text_projection"], config);
    }
    return std::make_unique<TowerModel>(config, std::move(tower));
  }
  Tower picture =
      load_clip_picture_tower(all, picture_defaults(clip_section(config, "vision_config")));
  if (source.is("ForImageClassification", "classifier.weight")) {
    picture.classify = [classify = load_linear(all["classifier"], picture.facts.main.width,
                                               label_count(config))](const Value& states) {
      return as_vector(classify(mean_of_rows(states, 1)));
    };
    return std::make_unique<TowerModel>(config, std::move(picture));
  }
  Tower text = load_clip_text_tower(all, text_defaults(clip_section(config, "text_config")));
  add_projection(picture, all["visual_projection"], config);
  add_projection(text, all["text_projection"], config);
  const Tensor log_scale = all.weights.tensor("logit_scale", {}, DType::kF32);
  return std::make_unique<TowerModel>(config, std::move(picture), std::move(text),
                                      Similarity{.log_scale = log_scale.values<float>()[0]});
}

}  // namespace

Architecture clip_architecture() {
  return {.name = "clip",
          .covers = "CLIP, both towers or one alone",
          .model_types = {"clip", "clip_vision_model", "clip_text_model"},
          .not_needed = {"position_ids", "visual_projection", "text_projection", "logit_scale"},
          .build = build_clip};
}

}  // namespace fovea
