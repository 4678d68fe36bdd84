// SigLIP (Zhai et al. 2023, arXiv:2303.15343), also SigLIP 2 of fixed sizes: CLIP's blocks, a head
// that attends to the patches instead of a class token, texts read both ways.
#include "fovea/layers/clip_stack.h"
#include "fovea/layers/heads.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/models/tower_model.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

Config siglip_defaults(const Config& config) {
  return config.with_defaults({{"vocab_size", 32000},
                               {"hidden_size", 768},
                               {"intermediate_size", 3072},
                               {"num_hidden_layers", 12},
                               {"num_attention_heads", 12},
                               {"max_position_embeddings", 64},
                               {"image_size", 224},
                               {"patch_size", 16},
                               {"hidden_act", "gelu_pytorch_tanh"},
                               {"layer_norm_eps", 1e-6}});
}

// torch.nn.MultiheadAttention: q, k and v below each other in one matrix.
AttentionLayer load_joined_attention(const LayerSource& source, const AttentionSizes& sizes) {
  const int64_t width = sizes.width;
  const Value weight = source.weights.tensor("in_proj_weight", {3 * width, width}, DType::kF32);
  const Value bias = load_vector(source, "in_proj_bias", 3 * width);
  std::vector<ops::Linear> projections;
  for (int64_t begin = 0; begin < 3 * width; begin += width) {
    projections.emplace_back(ops::slice(weight, 0, begin, begin + width).tensor,
                             ops::slice(bias, 0, begin, begin + width).tensor, source.compute);
  }
  return {sizes, std::move(projections), load_linear(source["out_proj"], width, width)};
}

// One learned query looks at all patches.
struct PoolHead {
  PoolHead(const LayerSource& source, const Config& config, const AttentionSizes& sizes)
      : probe(source.weights.tensor("probe", {1, 1, sizes.width}, DType::kF32)
                  .reshaped({1, sizes.width})),
        attention(load_joined_attention(source["attention"], sizes)),
        norm(Norm::layer(source["layernorm"], sizes.width, config.get_double("layer_norm_eps"))),
        feed_forward(load_clip_feed_forward(source["mlp"], config, sizes.width)),
        rule(source_rule(sizes.scale(), {})) {}

  Value operator()(const Pass& pass, const Value& states) const {
    const Value pooled = attention.cross(pass, {SiteKind::kPool, 0}, probe, states, {.rule = rule});
    return feed_forward(norm(pooled), pooled);
  }

  Tensor probe;
  AttentionLayer attention;
  Norm norm;
  FeedForward feed_forward;
  std::shared_ptr<const ScoreRule> rule;
};

struct SiglipPictureTower {
  SiglipPictureTower(const LayerSource& source, const Config& config)
      : stack(source, config),
        embed(load_embedding(source["embeddings"], PatchSizes::of(config), stack.sizes.width)),
        norm(Norm::layer(source["post_layernorm"], stack.sizes.width,
                         config.get_double("layer_norm_eps"))) {
    if (config.get_bool("vision_use_head", true)) pool.emplace(source["head"], config, stack.sizes);
  }

  static PictureEmbedding load_embedding(const LayerSource& source, const PatchSizes& sizes,
                                         int64_t width) {
    const PositionTable table =
        load_positions(source["position_embedding"], "weight", {sizes.trained_patches(), width}, 0);
    PictureEmbedding embed(source["patch_embedding"], sizes, width, /*bias=*/true, Tensor());
    embed.set_positions({sizes, table.patches, BicubicFilter::kPlain});
    return embed;
  }

  TowerOutputs operator()(const ModelInputs& inputs, const Pass& pass, SiteKind kind) const {
    const Value before = run_blocks(stack.blocks, pass, kind,
                                    embed(numeric_input(pass, kPixelValues, inputs.pixel_values)),
                                    patch_setting(stack.sizes));
    const Value states = norm(before);
    return {states, pool ? (*pool)(pass, states) : Value(), before};
  }

  ClipStack stack;
  PictureEmbedding embed;
  Norm norm;
  std::optional<PoolHead> pool;
};

struct SiglipTextTower {
  SiglipTextTower(const LayerSource& source, const Config& config)
      : stack(source, config),
        embed(source["embeddings"], config),
        norm(Norm::layer(source["final_layer_norm"], stack.sizes.width,
                         config.get_double("layer_norm_eps"))),
        head(load_linear(source["head"], stack.sizes.width,
                         config.get_size("projection_size", stack.sizes.width))) {}

  TowerOutputs operator()(const ModelInputs& inputs, const Pass& pass, SiteKind kind) const {
    const auto rule = text_rule(pass, stack.sizes.scale(), {.attention = inputs.attention_mask});
    const Value states =
        norm(run_blocks(stack.blocks, pass, kind, embed(pass, inputs.input_ids), {.rule = rule}));
    // The last position, be it padding: so the model was trained.
    return {states, head(row_of(states, inputs.tokens() - 1)), {}};
  }

  ClipStack stack;
  ClipTextEmbeddings embed;
  Norm norm;
  ops::Linear head;
};

Value as_it_is(const Value& pooled) {
  return pooled;
}

// Towers alone are stored with and without the prefix.
Tower load_siglip_picture_tower(const LayerSource& all, const Config& config) {
  const SiglipPictureTower tower(
      all.below_one_of({"vision_model.", ""}, "embeddings.patch_embedding.weight"), config);
  Tower made{
      .facts = picture_facts(tower.stack.sizes, static_cast<int64_t>(tower.stack.blocks.size()),
                             tower.embed.sizes(), {}),
      .run = tower};
  made.facts.picture->pools_by_attention = tower.pool.has_value();
  return made;
}

Tower load_siglip_text_tower(const LayerSource& all, const Config& config) {
  const SiglipTextTower tower(
      all.below_one_of({"text_model.", ""}, "embeddings.token_embedding.weight"), config);
  Tower made{.facts = text_facts(tower.stack.sizes, static_cast<int64_t>(tower.stack.blocks.size()),
                                 tower.embed.words.size(0), tower.embed.positions.size(0),
                                 /*causal=*/false),
             .run = tower};
  made.facts.text->padding_id = config.get_int("pad_token_id", 1);
  return made;
}

float load_number(const LayerSource& source, std::string_view name) {
  return load_vector(source, name, 1).values<float>()[0];
}

Config siglip_section(const Config& config, std::string_view key) {
  return siglip_defaults(
      config.find_section(key).value_or(Config(Json::object(), config.source())));
}

std::unique_ptr<Model> build_siglip(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource& all = source.weights;
  if (config.model_type() == "siglip_vision_model") {
    return std::make_unique<TowerModel>(config,
                                        load_siglip_picture_tower(all, siglip_defaults(config)));
  }
  if (config.model_type() == "siglip_text_model") {
    return std::make_unique<TowerModel>(config,
                                        load_siglip_text_tower(all, siglip_defaults(config)));
  }
  Tower picture = load_siglip_picture_tower(all, siglip_section(config, "vision_config"));
  if (source.is("ForImageClassification", "classifier.weight")) {
    picture.classify = [classify = load_linear(all["classifier"], picture.facts.main.width,
                                               label_count(config))](const Value& states) {
      return as_vector(classify(mean_of_rows(states, 0)));
    };
    return std::make_unique<TowerModel>(config, std::move(picture));
  }
  Tower text = load_siglip_text_tower(all, siglip_section(config, "text_config"));
  picture.embed = text.embed = &as_it_is;
  return std::make_unique<TowerModel>(config, std::move(picture), std::move(text),
                                      Similarity{.log_scale = load_number(all, "logit_scale"),
                                                 .bias = load_number(all, "logit_bias"),
                                                 .sigmoid = true});
}

}  // namespace

Architecture siglip_architecture() {
  return {.name = "siglip",
          .covers = "SigLIP and SigLIP 2 of fixed sizes, both towers or one alone",
          .model_types = {"siglip", "siglip_vision_model", "siglip_text_model"},
          .not_needed = {"position_ids", "logit_scale", "logit_bias"},
          .build = build_siglip};
}

}  // namespace fovea
