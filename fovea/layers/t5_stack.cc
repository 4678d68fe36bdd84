#include "fovea/layers/t5_stack.h"

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/layers/feed_forward.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"

namespace fovea {
namespace {

constexpr float kScale = 1;  // T5's weights are trained without 1 / sqrt(head_dim)

Norm load_t5_norm(const LayerSource& source, const Config& config, int64_t width) {
  return Norm::rms(source, width, config.get_double("layer_norm_epsilon", 1e-6));
}

AttentionLayer load_t5_attention(const LayerSource& source, const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = sizes.heads * sizes.head_dim;
  return AttentionLayer(
      sizes,
      {load_linear(source["q"], width, inner, false), load_linear(source["k"], width, inner, false),
       load_linear(source["v"], width, inner, false)},
      load_linear(source["o"], inner, width, false));
}

// "feed_forward_proj" is the name of an activation, with "gated-" before it where the product of
// two layers goes on.
std::function<Value(const Value&, const Value&)> load_t5_feed_forward(const LayerSource& source,
                                                                      const Config& config,
                                                                      std::string_view otherwise,
                                                                      int64_t width) {
  constexpr std::string_view kGated = "gated-";
  constexpr std::string_view kKey = "feed_forward_proj";
  const std::string kind = config.get_string(kKey, otherwise);
  const bool gated = kind.starts_with(kGated);
  std::string name = gated ? kind.substr(kGated.size()) : kind;
  if (kind == "gated-gelu") name = "gelu_new";  // what its name meant when it was given
  const Activation activation = activation_called(config, kKey, name);
  const int64_t inner = config.get_size("d_ff");
  const auto linear = [&](std::string_view part, int64_t in, int64_t out) {
    return load_linear(source[part], in, out, false);
  };
  if (!gated) {
    return FeedForward(linear("wi", width, inner), linear("wo", inner, width), activation);
  }
  return GatedFeedForward(linear("wi_0", width, inner), linear("wi_1", width, inner),
                          linear("wo", inner, width), activation);
}

// [columns, rows] of f32 [rows, columns].
Tensor transposed(const Tensor& table) {
  const int64_t rows = table.size(0), cols = table.size(1);
  Tensor result = Tensor::uninitialized({cols, rows});
  const float* from = table.values<float>().data();
  float* to = result.mutable_values<float>().data();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) to[j * rows + i] = *from++;
  }
  return result;
}

}  // namespace

T5DistanceBias::T5DistanceBias(const LayerSource& source, const Config& config, int64_t heads,
                               bool bidirectional)
    : bidirectional_(bidirectional) {
  constexpr int64_t kFewest = 4, kMost = 4096;
  const int64_t buckets = config.get_size("relative_attention_num_buckets", 32);
  const int64_t distance = config.get_size("relative_attention_max_distance", 128);
  if (buckets < kFewest || buckets > kMost) {
    fail(ErrorKind::kBadFile,
         "{}: relative_attention_num_buckets is {} but must be from {} to {}; is the file damaged?",
         config.source(), buckets, kFewest, kMost);
  }
  // Half of the buckets hold one distance each, the other half share those up to the largest.
  if (distance <= buckets / 2) {
    fail(ErrorKind::kBadFile,
         "{}: relative_attention_max_distance is {} but must be above half of the {} buckets",
         config.source(), distance, buckets);
  }
  buckets_ = static_cast<int>(buckets);
  max_distance_ = static_cast<int>(distance);
  values_ = transposed(source.weights.tensor("weight", {buckets, heads}, DType::kF32));
}

DistanceTable T5DistanceBias::operator()(const Pass& pass, int64_t tokens) const {
  const int64_t rows = pass.cache == nullptr ? tokens : tokens / pass.cache->hypotheses();
  const int64_t before = first_position(pass);
  return {values_,
          t5_bucket_index(rows, before + rows, before, bidirectional_, buckets_, max_distance_)};
}

T5Stack::T5Stack(const LayerSource& source, const Config& config, const T5StackOptions& options)
    : site_(options.site),
      sizes_(AttentionSizes::own_head_size(config, "d_model", "num_heads", "d_kv")),
      norm_(load_t5_norm(source["final_layer_norm"], config, sizes_.width)) {
  const int64_t layers = layer_count(config, options.layers_key);
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.push_back(load_block(source["block"][i]["layer"], config, options, i == 0));
  }
}

T5Stack::Block T5Stack::load_block(const LayerSource& source, const Config& config,
                                   const T5StackOptions& options, bool is_first) const {
  const int64_t width = sizes_.width;
  const LayerSource self = source["0"], cross = source["1"],
                    last = source[is_decoder() ? "2" : "1"];
  Block block{.attention_norm = load_t5_norm(self["layer_norm"], config, width),
              .attention = load_t5_attention(self["SelfAttention"], sizes_),
              .bias = {},
              .cross = {},
              .output_norm = load_t5_norm(last["layer_norm"], config, width),
              .feed_forward = load_t5_feed_forward(last["DenseReluDense"], config,
                                                   options.feed_forward, width)};
  if (is_first || options.bias_per_layer) {
    block.bias.emplace(self["SelfAttention"]["relative_attention_bias"], config, sizes_.heads,
                       !is_decoder());
  }
  if (is_decoder()) {
    block.cross = {load_t5_norm(cross["layer_norm"], config, width),
                   load_t5_attention(cross["EncDecAttention"], sizes_)};
  }
  return block;
}

Value T5Stack::operator()(const Pass& pass, Value x, std::span<const int64_t> attention_mask,
                          const EncodedSource* source) const {
  FOVEA_ASSERT(is_decoder() == (source != nullptr));
  const auto plain = text_rule(pass, kScale, {.causal = is_decoder(), .attention = attention_mask});
  const auto cross_rule =
      source_rule(kScale, source == nullptr ? std::vector<int64_t>() : source->attention_mask);
  std::shared_ptr<const ScoreRule> rule;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const int layer = static_cast<int>(i);
    if (block.bias) {
      ScoreRule biased = *plain;
      biased.bias = (*block.bias)(pass, x.shape()[0]);
      rule = std::make_shared<const ScoreRule>(std::move(biased));
    }
    x = run_block(
        pass, x, source == nullptr ? Value() : source->states,
        [this, layer, rule, cross_rule](const Pass& run, const Value& in, const Value& memory) {
          return run_layer(run, layer, in, memory, rule, cross_rule);
        });
  }
  return norm_(x);
}

Value T5Stack::run_layer(const Pass& pass, int layer, const Value& x, const Value& memory,
                         const std::shared_ptr<const ScoreRule>& rule,
                         const std::shared_ptr<const ScoreRule>& cross_rule) const {
  const Block& block = blocks_[static_cast<size_t>(layer)];
  Value y = block.attention(pass, {site_, layer}, block.attention_norm(x), {.rule = rule}, x);
  if (block.cross) {
    y = block.cross->attention.cross(pass, {SiteKind::kCross, layer}, block.cross->norm(y), memory,
                                     {.rule = cross_rule}, y);
  }
  return block.feed_forward(block.output_norm(y), y);
}

}  // namespace fovea
