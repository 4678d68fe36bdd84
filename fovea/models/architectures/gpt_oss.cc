// gpt-oss (OpenAI 2025, arXiv:2508.10925): experts in four bits, a sink beside the keys of each
// head, and a window on every other layer.

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/models/decoder_model.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

// The rows of a matrix of each expert, whatever the file stores.
struct ExpertRows {
  StoredMatrix all;
  WeightLayout layout = WeightLayout::kOutIn;
  int64_t rows = 0;  // of one expert
  Tensor biases;     // [experts, out]

  ops::Linear linear(int64_t expert, DType compute) const {
    const Tensor bias = ops::slice(biases, 0, expert, expert + 1).tensor;
    return ops::Linear(all.rows_between(expert * rows, (expert + 1) * rows),
                       bias.reshaped({bias.size(1)}), compute, layout);
  }
};

// As published, MXFP4 lies in two tensors: 16 bytes of four-bit numbers for each 32, neighbours in
// a byte, and one byte of scale. Together they are as long as ggml's blocks, which kernels read:
// the scale first, and numbers 16 apart in a byte. That costs the file's size in memory, once.
StoredMatrix joined_blocks(const LayerSource& source, const std::string& name, int64_t experts,
                           int64_t out, int64_t in) {
  constexpr int64_t kNumbers = 32, kBytes = kNumbers / 2;
  if (in % kNumbers != 0) {
    fail(ErrorKind::kBadFile, "{}: {} has rows of {} numbers; blocks of MXFP4 have {}",
         source.weights.source(), name, in, kNumbers);
  }
  const Tensor bits =
      source.weights.tensor(name + "_blocks", {experts, out, in / kNumbers, kBytes});
  const Tensor scales = source.weights.tensor(name + "_scales", {experts, out, in / kNumbers});
  if (bits.dtype() != DType::kU8 || scales.dtype() != DType::kU8) {
    fail(ErrorKind::kBadFile, "{}: {} is stored as {} with scales of {}; MXFP4 has bytes of both",
         source.weights.source(), name, dtype_name(bits.dtype()), dtype_name(scales.dtype()));
  }
  const int64_t blocks = scales.elements();
  Tensor joined = Tensor::uninitialized({blocks * (kBytes + 1)}, DType::kU8);
  const uint8_t* from = bits.values<uint8_t>().data();
  const uint8_t* scale = scales.values<uint8_t>().data();
  uint8_t* to = joined.mutable_values<uint8_t>().data();
  parallel_for(experts * out, [&](int64_t row) {
    const int64_t each = in / kNumbers;
    for (int64_t block = row * each; block < (row + 1) * each; ++block) {
      const uint8_t* pairs = from + block * kBytes;
      uint8_t* place = to + block * (kBytes + 1);
      *place++ = scale[block];
      const auto number = [pairs](int64_t i) { return pairs[i / 2] >> 4 * (i % 2) & 15; };
      for (int64_t i = 0; i < kBytes; ++i) {
        place[i] = static_cast<uint8_t>(number(i) | number(i + kBytes) << 4);
      }
    }
  });
  return {StoredFormat::kMXFP4, experts * out, in, std::move(joined)};
}

ExpertRows load_expert_rows(const LayerSource& source, const std::string& name, int64_t experts,
                            int64_t in, int64_t out) {
  ExpertRows rows;
  rows.biases = source.weights.tensor(name + "_bias", {experts, out}, DType::kF32);
  if (source.weights.has(name + "_blocks")) {
    rows.all = joined_blocks(source, name, experts, out, in);
    rows.rows = out;
  } else {
    rows.all = source.weights.matrix(name, {experts, in, out});
    rows.layout = WeightLayout::kInOut;
    rows.rows = in;
  }
  return rows;
}

// "gate_up_proj" and "down_proj" of all experts, or what llama.cpp's files have: three tensors of
// blocks with a bias each.
std::vector<Expert> load_oss_experts(const LayerSource& source, int64_t experts, int64_t width,
                                     int64_t inner) {
  std::vector<Expert> all;
  if (source.weights.has("gate_proj.weight")) {
    const auto part = [&](const std::string& name, int64_t in, int64_t out) {
      return ExpertRows{source.weights.matrix(name + ".weight", {experts, out, in}),
                        WeightLayout::kOutIn, out,
                        source.weights.tensor(name + ".bias", {experts, out}, DType::kF32)};
    };
    const ExpertRows gate = part("gate_proj", width, inner), up = part("up_proj", width, inner),
                     down = part("down_proj", inner, width);
    for (int64_t e = 0; e < experts; ++e) {
      all.push_back({{gate.linear(e, source.compute), up.linear(e, source.compute)},
                     down.linear(e, source.compute)});
    }
    return all;
  }
  const ExpertRows in = load_expert_rows(source, "gate_up_proj", experts, width, 2 * inner);
  const ExpertRows down = load_expert_rows(source, "down_proj", experts, inner, width);
  for (int64_t e = 0; e < experts; ++e) {
    all.push_back({{in.linear(e, source.compute)}, down.linear(e, source.compute)});
  }
  return all;
}

RotaryEmbedding load_oss_rotary(const Config& config, int64_t head_dim) {
  constexpr double kBase = 150000;
  if (config.has("rope_parameters") || config.has("rope_scaling")) {
    return RotaryEmbedding::of(config, head_dim, kBase);
  }
  Json yarn = Json::object();
  yarn.set("rope_type", "yarn");
  yarn.set("factor", 32.0);
  yarn.set("beta_fast", 32.0);
  yarn.set("beta_slow", 1.0);
  yarn.set("truncate", false);
  yarn.set("original_max_position_embeddings", 4096);
  Json json = config.json();
  json.set("rope_scaling", std::move(yarn));
  return RotaryEmbedding::of(Config(std::move(json), config.source()), head_dim, kBase);
}

std::unique_ptr<Model> build_gpt_oss(const ModelSource& source) {
  constexpr int64_t kPattern = 2;
  const Config& config = source.config;
  const AttentionSizes sizes = AttentionSizes::grouped_heads(config);
  const ExpertCounts counts =
      ExpertCounts::of(config, "num_local_experts", "num_experts_per_tok", 4);
  const bool bias = config.get_bool("attention_bias", true);
  RopeDecoderOptions options{.query_key_value_bias = bias, .output_bias = bias, .epsilon = 1e-5};
  options.rotary = load_oss_rotary(config, sizes.head_dim);
  options.windows = alternating_windows(config, kPattern, config.get_size("sliding_window", 128));
  options.sinks = [](const LayerSource& attention, int64_t heads) {
    const Tensor sinks = first_vector(attention, {"sinks", "sinks.weight"}, heads);
    if (sinks.empty()) load_vector(attention, "sinks", heads);  // says that they are missing
    return std::vector<float>(sinks.values<float>().begin(), sinks.values<float>().end());
  };
  options.feed_forward = [&](const LayerSource& block, int64_t) {
    const LayerSource part = block["mlp"];
    const ExpertActivation activation{
        .limit = static_cast<float>(positive_number(config, "swiglu_limit", 7)),
        .slope = static_cast<float>(positive_number(config, "swiglu_alpha", 1.702))};
    return ExpertFeedForward(load_linear(part["router"], sizes.width, counts.experts),
                             load_oss_experts(part["experts"], counts.experts, sizes.width,
                                              config.get_size("intermediate_size")),
                             counts.taken, ops::SoftmaxOver::kChosen, activation);
  };
  return rope_model(source, {.decoder = std::move(options), .trained_tokens = 131072});
}

}  // namespace

Architecture gpt_oss_architecture() {
  return {.name = "gpt_oss",
          .covers = "gpt-oss",
          .model_types = {"gpt_oss"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head"},
          .build = build_gpt_oss};
}

}  // namespace fovea
