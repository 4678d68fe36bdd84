// MPT (MosaicML 2023): ALiBi, and no biases anywhere.
#include <algorithm>
#include <bit>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/alibi.h"
#include "fovea/models/decoder_model.h"

namespace fovea {
namespace {

// MPT takes the slopes of the next larger power of two, the odd ones first. transformers does so
// with a largest exponent of 8 whatever alibi_bias_max says.
std::vector<float> mpt_slopes(int64_t heads) {
  constexpr float kLargestExponent = 8;
  const auto all = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(heads)));
  const auto slope = [&](int64_t i) {
    return 1 / std::exp2(static_cast<float>(i + 1) * (kLargestExponent / static_cast<float>(all)));
  };
  std::vector<float> slopes;
  if (all == heads) {
    for (int64_t i = 0; i < all; ++i) slopes.push_back(slope(i));
    return slopes;
  }
  for (int64_t i = 1; i < all; i += 2) slopes.push_back(slope(i));
  for (int64_t i = 0; i < all; i += 2) slopes.push_back(slope(i));
  slopes.resize(static_cast<size_t>(heads));
  return slopes;
}

void check_mpt(const Config& attention) {
  const std::string type = attention.get_string("attn_type", "multihead_attention");
  if (type != "multihead_attention" || attention.get_bool("qk_ln", false) ||
      !attention.get_bool("alibi", true)) {
    fail(
        ErrorKind::kUnsupported,
        "{}: of MPT fovea runs attn_type multihead_attention with alibi and without qk_ln; this is "
        "{}, alibi {}, qk_ln {}",
        attention.source(), type, attention.get_bool("alibi", true),
        attention.get_bool("qk_ln", false));
  }
}

PreNormBlock load_mpt_block(const LayerSource& source, const Config& attention,
                            const AttentionSizes& sizes, double epsilon) {
  const int64_t width = sizes.width, inner = 4 * width;
  AttentionLayer layer(sizes, {load_linear(source["attn.Wqkv"], width, 3 * width, /*bias=*/false)},
                       load_linear(source["attn.out_proj"], width, width, /*bias=*/false));
  if (attention.has("clip_qkv")) {
    layer.set_limit(static_cast<float>(std::max(attention.get_double("clip_qkv"), 0.0)));
  }
  return {Norm::layer(source["norm_1"], width, epsilon, /*bias=*/false), std::move(layer),
          Norm::layer(source["norm_2"], width, epsilon, /*bias=*/false),
          FeedForward(load_linear(source["ffn.up_proj"], width, inner, /*bias=*/false),
                      load_linear(source["ffn.down_proj"], inner, width, /*bias=*/false),
                      Activation::kGelu)};
}

std::unique_ptr<Model> build_mpt(const ModelSource& source) {
  const Config& config = source.config;
  const Config attention =
      config.find_section("attn_config").value_or(Config(Json::object(), config.source()));
  check_mpt(attention);
  const LayerSource base = source.weights.below_one_of({"transformer.", ""}, "wte.weight");
  const AttentionSizes sizes = AttentionSizes::equal_heads(config, "d_model", "n_heads");
  const double epsilon = config.get_double("layer_norm_epsilon", 1e-5);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < layer_count(config, "n_layers"); ++i) {
    layers.push_back({load_mpt_block(base["blocks"][i], attention, sizes, epsilon)});
  }
  TextScores scores{
      .scale = static_cast<float>(positive_number(attention, "softmax_scale", sizes.scale()))};
  scores.bias = [slopes = mpt_slopes(sizes.heads)](const Pass&, int64_t, std::span<const int64_t>) {
    return AlibiSlopes{slopes};
  };
  DecoderParts parts{.sizes = sizes,
                     .words = load_table(base["wte"], config.get_size("vocab_size"), sizes.width),
                     .stack = {std::move(scores), std::move(layers)},
                     .norm = Norm::layer(base["norm_f"], sizes.width, epsilon, /*bias=*/false),
                     .trained_tokens = config.get_size("max_seq_len", 2048)};
  TextHead head = decoder_head(source, parts.words);
  return decoder_model(source, std::move(parts), std::move(head));
}

}  // namespace

Architecture mpt_architecture() {
  return {.name = "mpt",
          .covers = "MPT",
          .model_types = {"mpt"},
          .not_needed = {"lm_head"},
          .build = build_mpt};
}

}  // namespace fovea
