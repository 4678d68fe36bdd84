#include "fovea/layers/rope_decoder.h"

#include <map>

#include "fovea/base/error.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"

namespace fovea {
namespace {

std::vector<ops::Linear> load_projections(const LayerSource& source, const AttentionSizes& sizes,
                                          bool bias) {
  const int64_t query = sizes.heads * sizes.head_dim, key = sizes.kv_heads * sizes.head_dim;
  std::vector<ops::Linear> linears;
  linears.push_back(load_linear(source["q_proj"], sizes.width, query, bias));
  linears.push_back(load_linear(source["k_proj"], sizes.width, key, bias));
  linears.push_back(load_linear(source["v_proj"], sizes.width, key, bias));
  return linears;
}

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

RopeDecoder::RopeDecoder(const LayerSource& source, const Config& config,
                         const RopeDecoderOptions& options)
    : sizes_(AttentionSizes::grouped_heads(config)),
      rotary_(load_rotary(source, config, sizes_.head_dim)),
      norm_(Norm::rms(source["norm"], sizes_.width, config.get_double("rms_norm_eps", 1e-6))) {
  const auto layers = static_cast<size_t>(layer_count(config));
  for (size_t i = 0; i < layers; ++i) {
    blocks_.push_back(load_block(source["layers"][static_cast<int64_t>(i)], config, options, i));
  }
}

RopeDecoder::Block RopeDecoder::load_block(const LayerSource& source, const Config& config,
                                           const RopeDecoderOptions& options, size_t index) const {
  const double epsilon = config.get_double("rms_norm_eps", 1e-6);
  const LayerSource attention = source["self_attn"];
  AttentionLayer layer(sizes_, load_projections(attention, sizes_, options.query_key_value_bias),
                       load_linear(attention["o_proj"], sizes_.heads * sizes_.head_dim,
                                   sizes_.width, options.output_bias));
  if (options.head_norms) {
    layer.set_head_norms(Norm::rms(attention["q_norm"], sizes_.head_dim, epsilon),
                         Norm::rms(attention["k_norm"], sizes_.head_dim, epsilon));
  }
  return {
      {Norm::rms(source["input_layernorm"], sizes_.width, epsilon), std::move(layer),
       Norm::rms(source["post_attention_layernorm"], sizes_.width, epsilon),
       GatedFeedForward(source["mlp"], sizes_.width, config.get_size("intermediate_size"),
                        activation_named(config, "hidden_act", "silu"), options.feed_forward_bias)},
      options.windows.empty() ? std::nullopt : options.windows[index]};
}

Value RopeDecoder::operator()(const Pass& pass, Value x,
                              std::span<const int64_t> attention_mask) const {
  const RotaryTable table = rotary_.table(token_positions(pass, x.shape()[0]));
  // One rule for all layers with the same window.
  std::map<std::optional<int64_t>, std::shared_ptr<const ScoreRule>> rules;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    auto& rule = rules[block.window];
    if (rule == nullptr) {
      rule = text_rule(pass, sizes_.scale(),
                       {.causal = true, .window = block.window, .attention = attention_mask});
    }
    const AttentionSetting setting{.rule = rule, .rotary = table};
    const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
    x = run_block(pass, x, [&block, site, setting](const Pass& run, const Value& in) {
      return block.parts(run, site, in, setting);
    });
  }
  return norm_(x);
}

}  // namespace fovea
