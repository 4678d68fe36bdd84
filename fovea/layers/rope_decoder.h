// Llama's stack, which Mistral and Qwen share: RMS norms before each part, rotary positions,
// grouped keys, a gated feed-forward part (Touvron et al. 2023, arXiv:2302.13971).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "fovea/layers/text_stack.h"

namespace fovea {

// How the models differ.
struct RopeDecoderOptions {
  bool query_key_value_bias = false;
  bool output_bias = false;
  bool feed_forward_bias = false;
  bool head_norms = false;
  std::vector<std::optional<int64_t>> windows;  // one per layer; empty: none anywhere
  std::optional<RotaryEmbedding> rotary;        // none: all of each head turns, as config.json says
  std::optional<float> scale;                   // of scores; none: 1 / sqrt(head_dim)
  float result_scale = 1;                       // of what each part adds to the states
  std::string_view epsilon_key = "rms_norm_eps";
  double epsilon = 1e-6;  // if the key is missing
  // Where the projections and the feed-forward part are not Llama's.
  std::function<std::vector<ops::Linear>(const LayerSource& attention, const AttentionSizes& sizes)>
      projections = nullptr;
  std::function<AnyFeedForward(const LayerSource& block, int64_t layer)> feed_forward = nullptr;
  std::function<Norm(const LayerSource& source)> norm = nullptr;  // none: RMS norms
  std::function<std::vector<float>(const LayerSource& attention, int64_t heads)> sinks = nullptr;
};

// The blocks "layers.N" by Llama's names.
TextStack load_rope_stack(const LayerSource& source, const Config& config,
                          const AttentionSizes& sizes, const RopeDecoderOptions& options);
// One of its norms.
Norm load_rope_norm(const LayerSource& source, const Config& config, int64_t width,
                    const RopeDecoderOptions& options);
// "q_proj", "k_proj" and "v_proj".
std::vector<ops::Linear> load_query_key_value(const LayerSource& source,
                                              const AttentionSizes& sizes, bool bias);

// Each layer's window, from layer_types and sliding_window; "full_attention" layers have none.
// Without layer_types, all layers have `otherwise`.
std::vector<std::optional<int64_t>> layer_windows(
    const Config& config, const std::vector<std::optional<int64_t>>& otherwise);
// The same, but without layer_types every `pattern`-th layer sees everything and the others have
// this window.
std::vector<std::optional<int64_t>> alternating_windows(const Config& config, int64_t pattern,
                                                        int64_t window);
// A causal window of W keys, the query's own included, reaches W - 1 positions back.
std::optional<int64_t> reach_of(std::optional<int64_t> window);
// As layer_windows, but without layer_types Qwen's use_sliding_window and max_window_layers decide.
std::vector<std::optional<int64_t>> upper_layer_windows(const Config& config);

}  // namespace fovea
