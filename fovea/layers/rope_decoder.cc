#include "fovea/layers/rope_decoder.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

RotaryEmbedding load_rotary(const LayerSource& source, const Config& config, int64_t head_dim) {
  RotaryEmbedding rotary = RotaryEmbedding::of(config, head_dim);
  // GGUF files of Llama 3.1 bring the factors themselves.
  if (source.weights.has("rope_freqs.weight")) {
    const Tensor factors = source.weights.tensor("rope_freqs.weight", {head_dim / 2}, DType::kF32);
    rotary.divide_frequencies(factors.values<float>(), source.weights.source());
  }
  return rotary;
}

}  // namespace

std::vector<std::optional<int64_t>> layer_windows(
    const Config& config, const std::vector<std::optional<int64_t>>& otherwise) {
  const std::vector<std::string> types = config.get_strings("layer_types");
  if (types.empty()) return otherwise;
  const auto layers = static_cast<size_t>(layer_count(config));
  if (types.size() != layers) {
    fail(ErrorKind::kBadFile, "{}: layer_types has {} entries but num_hidden_layers is {}",
         config.source(), types.size(), layers);
  }
  std::vector<std::optional<int64_t>> windows;
  for (const std::string& type : types) {
    if (type == "sliding_attention") {
      windows.emplace_back(config.get_size("sliding_window"));
    } else if (type == "full_attention") {
      windows.emplace_back();
    } else {
      fail(ErrorKind::kUnsupported,
           "{}: has a layer of the type '{}'; fovea knows full_attention and sliding_attention",
           config.source(), type);
    }
  }
  return windows;
}

std::optional<int64_t> reach_of(std::optional<int64_t> window) {
  return window ? std::optional<int64_t>(*window - 1) : std::nullopt;
}

std::vector<std::optional<int64_t>> alternating_windows(const Config& config, int64_t pattern,
                                                        int64_t window) {
  const int64_t layers = layer_count(config);
  std::vector<std::optional<int64_t>> windows;
  for (int64_t i = 1; i <= layers; ++i) {
    windows.push_back(i % pattern == 0 ? std::nullopt : std::optional<int64_t>(window));
  }
  return layer_windows(config, windows);
}

std::vector<std::optional<int64_t>> upper_layer_windows(const Config& config) {
  const int64_t layers = layer_count(config);
  std::vector<std::optional<int64_t>> windows(static_cast<size_t>(layers));
  if (config.get_bool("use_sliding_window", false) && config.has("sliding_window")) {
    const int64_t first = std::max<int64_t>(config.get_int("max_window_layers", 28), 0);
    for (int64_t i = first; i < layers; ++i) {
      windows[static_cast<size_t>(i)] = config.get_size("sliding_window");
    }
  }
  return layer_windows(config, windows);
}

std::vector<ops::Linear> load_query_key_value(const LayerSource& source,
                                              const AttentionSizes& sizes, bool bias) {
  const int64_t query = sizes.heads * sizes.head_dim, key = sizes.kv_heads * sizes.head_dim;
  std::vector<ops::Linear> linears;
  linears.push_back(load_linear(source["q_proj"], sizes.width, query, bias));
  linears.push_back(load_linear(source["k_proj"], sizes.width, key, bias));
  linears.push_back(load_linear(source["v_proj"], sizes.width, key, bias));
  return linears;
}

Norm load_rope_norm(const LayerSource& source, const Config& config, int64_t width,
                    const RopeDecoderOptions& options) {
  if (options.norm) return options.norm(source);
  return Norm::rms(source, width, config.get_double(options.epsilon_key, options.epsilon));
}

namespace {

AttentionLayer load_rope_attention(const LayerSource& source, const Config& config,
                                   const AttentionSizes& sizes, const RopeDecoderOptions& options) {
  AttentionLayer layer(sizes,
                       options.projections
                           ? options.projections(source, sizes)
                           : load_query_key_value(source, sizes, options.query_key_value_bias),
                       load_linear(source["o_proj"], sizes.heads * sizes.head_dim, sizes.width,
                                   options.output_bias));
  if (options.head_norms) {
    layer.set_head_norms(load_rope_norm(source["q_norm"], config, sizes.head_dim, options),
                         load_rope_norm(source["k_norm"], config, sizes.head_dim, options));
  }
  layer.set_output_scale(options.result_scale);
  return layer;
}

AnyFeedForward load_rope_feed_forward(const LayerSource& source, const Config& config,
                                      const AttentionSizes& sizes, int64_t layer,
                                      const RopeDecoderOptions& options) {
  if (options.feed_forward) return options.feed_forward(source, layer);
  GatedFeedForward part(source["mlp"], sizes.width, config.get_size("intermediate_size"),
                        activation_named(config, "hidden_act", "silu"), options.feed_forward_bias);
  part.set_scale(options.result_scale);
  return part;
}

}  // namespace

TextStack load_rope_stack(const LayerSource& source, const Config& config,
                          const AttentionSizes& sizes, const RopeDecoderOptions& options) {
  const int64_t count = layer_count(config);
  std::vector<TextLayer> layers;
  for (int64_t i = 0; i < count; ++i) {
    const LayerSource block = source["layers"][i];
    const LayerSource attention = block["self_attn"];
    TextLayer layer{PreNormBlock(
        load_rope_norm(block["input_layernorm"], config, sizes.width, options),
        load_rope_attention(attention, config, sizes, options),
        load_rope_norm(block["post_attention_layernorm"], config, sizes.width, options),
        load_rope_feed_forward(block, config, sizes, i, options))};
    if (!options.windows.empty()) layer.reach = reach_of(options.windows[static_cast<size_t>(i)]);
    if (options.sinks) layer.sinks = options.sinks(attention, sizes.heads);
    layers.push_back(std::move(layer));
  }
  TextScores scores{.scale = options.scale.value_or(sizes.scale())};
  scores.rotary.push_back(options.rotary ? *options.rotary
                                         : load_rotary(source, config, sizes.head_dim));
  return {std::move(scores), std::move(layers)};
}

}  // namespace fovea
