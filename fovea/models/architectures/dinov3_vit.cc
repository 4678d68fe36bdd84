// DINOv3 (Siméoni et al. 2025, arXiv:2508.10104): no table of positions, patches are turned by
// where they lie in the picture, from -1 at one edge to 1 at the other.
#include <array>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/layers/heads.h"
#include "fovea/layers/layer_scale.h"
#include "fovea/layers/norm_block.h"
#include "fovea/layers/run_block.h"
#include "fovea/models/picture_model.h"

namespace fovea {
namespace {

// transformers 5 wraps the blocks; files on the hub do not.
constexpr std::array<Rename, 1> kNewDinov3Names{{{"model.layer", "layer"}}};

ModelSource dinov3_defaults(const ModelSource& source) {
  return {source.config.with_defaults({{"hidden_size", 384},
                                       {"num_hidden_layers", 12},
                                       {"num_attention_heads", 6},
                                       {"intermediate_size", 1536},
                                       {"hidden_act", "gelu"},
                                       {"layer_norm_eps", 1e-5},
                                       {"rope_theta", 100.0},
                                       {"image_size", 224},
                                       {"patch_size", 16},
                                       {"query_bias", true},
                                       {"key_bias", false},
                                       {"value_bias", true},
                                       {"proj_bias", true},
                                       {"mlp_bias", true},
                                       {"use_gated_mlp", false}}),
          source.weights};
}

AnyFeedForward load_dinov3_feed_forward(const LayerSource& source, const Config& config,
                                        int64_t width, const Tensor& scale) {
  const int64_t inner = config.get_size("intermediate_size");
  const bool bias = config.get_bool("mlp_bias");
  const Activation activation = activation_named(config, "hidden_act", "gelu");
  ops::Linear up = load_linear(source["up_proj"], width, inner, bias);
  ops::Linear down = load_scaled_linear(source["down_proj"], inner, width, bias, scale);
  if (!config.get_bool("use_gated_mlp")) {
    return FeedForward(std::move(up), std::move(down), activation);
  }
  return GatedFeedForward(load_linear(source["gate_proj"], width, inner, bias), std::move(up),
                          std::move(down), activation);
}

PreNormBlock load_dinov3_block(const LayerSource& source, const Config& config,
                               const AttentionSizes& sizes) {
  const int64_t width = sizes.width;
  const double epsilon = config.get_double("layer_norm_eps");
  const LayerSource attention = source["attention"];
  return {Norm::layer(source["norm1"], width, epsilon),
          AttentionLayer(
              sizes,
              {load_linear(attention["q_proj"], width, width, config.get_bool("query_bias")),
               load_linear(attention["k_proj"], width, width, config.get_bool("key_bias")),
               load_linear(attention["v_proj"], width, width, config.get_bool("value_bias"))},
              load_scaled_linear(attention["o_proj"], width, width, config.get_bool("proj_bias"),
                                 load_vector(source["layer_scale1"], "lambda1", width))),
          Norm::layer(source["norm2"], width, epsilon),
          load_dinov3_feed_forward(source["mlp"], config, width,
                                   load_vector(source["layer_scale2"], "lambda1", width))};
}

// base^(-4p / head_dim): one half of a head's pairs is turned by the row, the other by the column.
std::vector<float> load_frequencies(const Config& config, int64_t head_dim) {
  if (head_dim % 4 != 0) {
    fail(ErrorKind::kBadFile,
         "{}: heads have {} numbers each; positions in the picture need a multiple of 4",
         config.source(), head_dim);
  }
  const auto base = static_cast<float>(positive_number(config, "rope_theta"));
  std::vector<float> frequencies;
  for (int64_t p = 0; p < head_dim / 4; ++p) {
    const double exponent = 4 * static_cast<double>(p) / static_cast<double>(head_dim);
    frequencies.push_back(1 / std::pow(base, static_cast<float>(exponent)));
  }
  return frequencies;
}

class Dinov3Vit final : public PictureModel {
 public:
  explicit Dinov3Vit(const ModelSource& source)
      : Dinov3Vit(dinov3_defaults(source), source.weights.renamed(kNewDinov3Names)) {}

 private:
  Dinov3Vit(const ModelSource& source, const LayerSource& base)
      : PictureModel(source),
        sizes_(AttentionSizes::equal_heads(source.config)),
        registers_(register_count(source.config, 0)),
        embed_(base["embeddings.patch_embeddings"], PatchSizes::of(source.config), sizes_.width,
               /*bias=*/true,
               load_front_tokens(base["embeddings"],
                                 {{"cls_token"}, {"register_tokens", registers_}}, sizes_.width)),
        norm_(Norm::layer(base["norm"], sizes_.width, source.config.get_double("layer_norm_eps"))),
        frequencies_(load_frequencies(source.config, sizes_.head_dim)) {
    const int64_t layers = layer_count(source.config);
    for (int64_t i = 0; i < layers; ++i) {
      blocks_.push_back(load_dinov3_block(base["layer"][i], source.config, sizes_));
    }
    std::vector<std::string> front = register_names(registers_);
    front.insert(front.begin(), "[CLS]");
    ModelFacts facts = picture_facts(sizes_, layers, embed_.sizes(), std::move(front));
    facts.picture->any_size = true;
    facts.main.rotary = true;
    set_facts(facts);
    set_pooler([](const Value& states) { return as_vector(row_of(states, 0)); });
  }

  // Tokens in front are not turned. Rounded to f32 where transformers rounds.
  RotaryTable rotary_table(int64_t rows, int64_t cols) const {
    const int64_t front = 1 + registers_;
    const auto quarter = static_cast<int64_t>(frequencies_.size());
    RotaryTable table{Tensor({front + rows * cols, 2 * quarter}),
                      Tensor({front + rows * cols, 2 * quarter})};
    float* cos = table.cos.mutable_values<float>().data();
    float* sin = table.sin.mutable_values<float>().data();
    std::fill_n(cos, front * 2 * quarter, 1.0F);
    const auto turn = [&](int64_t at, int64_t place, int64_t count) {
      const float share = (static_cast<float>(place) + 0.5F) / static_cast<float>(count);
      const float whole = static_cast<float>(2 * std::numbers::pi) * (2 * share - 1);
      for (int64_t p = 0; p < quarter; ++p) {
        const float angle = whole * frequencies_[static_cast<size_t>(p)];
        cos[at + p] = std::cos(angle);
        sin[at + p] = std::sin(angle);
      }
    };
    for (int64_t i = 0; i < rows * cols; ++i) {
      const int64_t at = (front + i) * 2 * quarter;
      turn(at, i / cols, rows);
      turn(at + quarter, i % cols, cols);
    }
    return table;
  }

  PictureStates hidden(const Value& pixels, const Pass& pass) const override {
    const RotaryTable table = rotary_table(embed_.sizes().rows(pixels.shape()[1]),
                                           embed_.sizes().cols(pixels.shape()[2]));
    AttentionSetting setting = patch_setting(sizes_);
    setting.rotary = table;
    const Value states = run_blocks(blocks_, pass, SiteKind::kSelf, embed_(pixels), setting);
    return {states, norm_(states)};
  }

  AttentionSizes sizes_;
  int64_t registers_;
  PictureEmbedding embed_;
  std::vector<PreNormBlock> blocks_;
  Norm norm_;
  std::vector<float> frequencies_;
};

}  // namespace

Architecture dinov3_vit_architecture() {
  return {.name = "dinov3_vit",
          .covers = "DINOv3 (vision transformers)",
          .model_types = {"dinov3_vit"},
          .not_needed = {"mask_token", "register_tokens", "inv_freq"},
          .build = &build_model<Dinov3Vit>};
}

}  // namespace fovea
