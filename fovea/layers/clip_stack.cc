#include "fovea/layers/clip_stack.h"

#include <numeric>

#include "fovea/layers/numeric_input.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

PreNormBlock load_clip_block(const LayerSource& source, const Config& config,
                             const AttentionSizes& sizes) {
  const int64_t width = sizes.width;
  const double epsilon = config.get_double("layer_norm_eps");
  const LayerSource attention = source["self_attn"];
  return {Norm::layer(source["layer_norm1"], width, epsilon),
          AttentionLayer(sizes,
                         {load_linear(attention["q_proj"], width, width),
                          load_linear(attention["k_proj"], width, width),
                          load_linear(attention["v_proj"], width, width)},
                         load_linear(attention["out_proj"], width, width)),
          Norm::layer(source["layer_norm2"], width, epsilon),
          load_clip_feed_forward(source["mlp"], config, width)};
}

}  // namespace

ClipStack::ClipStack(const LayerSource& source, const Config& config)
    : sizes(AttentionSizes::equal_heads(config)) {
  const int64_t layers = layer_count(config);
  for (int64_t i = 0; i < layers; ++i) {
    blocks.push_back(load_clip_block(source["encoder.layers"][i], config, sizes));
  }
}

FeedForward load_clip_feed_forward(const LayerSource& source, const Config& config, int64_t width) {
  const int64_t inner = config.get_size("intermediate_size");
  return {load_linear(source["fc1"], width, inner), load_linear(source["fc2"], inner, width),
          activation_named(config, "hidden_act", "gelu")};
}

ClipTextEmbeddings::ClipTextEmbeddings(const LayerSource& source, const Config& config)
    : words(load_table(source["token_embedding"], config.get_size("vocab_size"),
                       config.get_size("hidden_size"))),
      positions(load_table(source["position_embedding"], config.get_size("max_position_embeddings"),
                           config.get_size("hidden_size"))) {}

Value ClipTextEmbeddings::operator()(const Pass& pass, std::span<const int64_t> ids) const {
  std::vector<int64_t> places(ids.size());
  std::iota(places.begin(), places.end(), 0);
  return ops::add(embed_words(pass, kInputsEmbeds, words, ids), ops::embedding(positions, places));
}

}  // namespace fovea
