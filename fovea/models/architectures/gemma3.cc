// Gemma 3, its text part (Gemma team 2025, arXiv:2503.19786): norms before and after each part,
// windows on most layers, and another rotary base for those.
#include <cmath>
#include <map>

#include "fovea/layers/numeric_input.h"
#include "fovea/layers/rope_decoder.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/rope_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr float kNormOffset = 1;  // norms are stored less 1

// The text part's own configuration: a section of the one for text and pictures.
Config text_config(const Config& config) {
  const std::optional<Config> section = config.find_section("text_config");
  Json json = section ? section->json() : config.json();
  for (const char* key : {"architectures", "id2label", "num_labels"}) {
    if (const Json* value = config.json().find(key)) json.set(key, *value);
  }
  // Published files name only what differs from these.
  static constexpr std::pair<const char*, int64_t> kDefaults[] = {
      {"num_attention_heads", 8}, {"num_key_value_heads", 4},  {"head_dim", 256},
      {"hidden_size", 2304},      {"intermediate_size", 9216}, {"num_hidden_layers", 26},
      {"pad_token_id", 0}};
  for (const auto& [key, value] : kDefaults) {
    if (json.find(key) == nullptr) json.set(key, value);
  }
  return Config(std::move(json), config.source());
}

std::vector<std::optional<int64_t>> load_windows(const Config& config) {
  const int64_t layers = layer_count(config);
  const int64_t pattern = config.get_size("sliding_window_pattern", 6);
  std::vector<std::optional<int64_t>> windows;
  for (int64_t i = 1; i <= layers; ++i) {
    if (i % pattern == 0) {
      windows.emplace_back();
    } else {
      windows.emplace_back(config.get_size("sliding_window", 4096));
    }
  }
  return layer_windows(config, windows);
}

class Gemma3 final : public TextModel {
 public:
  explicit Gemma3(const ModelSource& source)
      : Gemma3({text_config(source.config), source.weights},
               source.weights.below_one_of({"model.language_model.", "language_model.model.",
                                            "model.", "language_model.", ""},
                                           "embed_tokens.weight")) {}

 private:
  struct Block {
    Norm attention_norm;
    AttentionLayer attention;
    Norm after_attention;
    Norm feed_forward_norm;
    GatedFeedForward feed_forward;
    Norm after_feed_forward;
    std::optional<int64_t> window;
  };

  Gemma3(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::grouped_heads(source.config)),
        scale_(static_cast<float>(
            1 / std::sqrt(positive_number(source.config, "query_pre_attn_scalar", 256)))),
        both_ways_(source.config.get_bool("use_bidirectional_attention", false)),
        global_(RotaryEmbedding::of(source.config, sizes_.head_dim, 1e6, "full_attention")),
        local_(source.config.has("rope_parameters")
                   ? RotaryEmbedding::of(source.config, sizes_.head_dim, 1e4, "sliding_attention")
                   : RotaryEmbedding::plain(sizes_.head_dim,
                                            source.config.get_double("rope_local_base_freq", 1e4))),
        words_(load_table(base["embed_tokens"], source.config.get_size("vocab_size", 262208),
                          sizes_.width)),
        norm_(load_norm(base["norm"], source.config, sizes_.width)) {
    const std::vector<std::optional<int64_t>> windows = load_windows(source.config);
    for (size_t i = 0; i < windows.size(); ++i) {
      blocks_.push_back(
          load_block(base["layers"][static_cast<int64_t>(i)], source.config, windows[i]));
    }
    ModelFacts facts{.main = stack_facts(sizes_, static_cast<int64_t>(blocks_.size()))};
    facts.main.causal = !both_ways_;
    facts.main.rotary = true;
    facts.text =
        TextFacts{.vocabulary = words_.size(0),
                  .trained_tokens = source.config.get_size("max_position_embeddings", 131072)};
    set_facts(facts);
    set_head(
        decoder_head(source, words_,
                     static_cast<float>(source.config.get_double("final_logit_softcapping", 0))));
  }

  static Norm load_norm(const LayerSource& source, const Config& config, int64_t width) {
    return Norm::rms(source, width, config.get_double("rms_norm_eps", 1e-6), kNormOffset);
  }

  Block load_block(const LayerSource& source, const Config& config,
                   std::optional<int64_t> window) const {
    const int64_t width = sizes_.width, dim = sizes_.head_dim;
    const bool bias = config.get_bool("attention_bias", false);
    const LayerSource parts = source["self_attn"];
    AttentionLayer attention(sizes_,
                             {load_linear(parts["q_proj"], width, sizes_.heads * dim, bias),
                              load_linear(parts["k_proj"], width, sizes_.kv_heads * dim, bias),
                              load_linear(parts["v_proj"], width, sizes_.kv_heads * dim, bias)},
                             load_linear(parts["o_proj"], sizes_.heads * dim, width, bias));
    attention.set_head_norms(load_norm(parts["q_norm"], config, dim),
                             load_norm(parts["k_norm"], config, dim));
    return {load_norm(source["input_layernorm"], config, width),
            std::move(attention),
            load_norm(source["post_attention_layernorm"], config, width),
            load_norm(source["pre_feedforward_layernorm"], config, width),
            GatedFeedForward(source["mlp"], width, config.get_size("intermediate_size"),
                             activation_named(config, "hidden_activation", "gelu_pytorch_tanh"),
                             /*bias=*/false),
            load_norm(source["post_feedforward_layernorm"], config, width),
            window};
  }

  // Masks of layers with this window; both ways, it opens half of it to either side.
  std::shared_ptr<const ScoreRule> rule_for(const Pass& pass, const ModelInputs& inputs,
                                            std::optional<int64_t> window) const {
    if (!both_ways_) {
      return text_rule(pass, scale_,
                       {.causal = true, .window = window, .attention = inputs.attention_mask});
    }
    auto rule =
        std::make_shared<ScoreRule>(*text_rule(pass, scale_, {.attention = inputs.attention_mask}));
    if (window) rule->mask.behind = rule->mask.ahead = *window / 2;
    return rule;
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const std::vector<int64_t> positions = token_positions(pass, inputs.tokens());
    const RotaryTable global = global_.table(positions), local = local_.table(positions);
    std::map<std::optional<int64_t>, std::shared_ptr<const ScoreRule>> rules;
    Value x = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids,
                          std::sqrt(static_cast<float>(sizes_.width)));
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      auto& rule = rules[block.window];
      if (rule == nullptr) rule = rule_for(pass, inputs, block.window);
      const AttentionSetting setting{.rule = rule, .rotary = block.window ? local : global};
      const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
      x = run_block(pass, x, [&block, site, setting](const Pass& run, const Value& in) {
        return run_layer(block, run, site, in, setting);
      });
    }
    return norm_(x);
  }

  static Value run_layer(const Block& block, const Pass& pass, SiteId site, const Value& x,
                         AttentionSetting setting) {
    setting.added_later = &x;
    const Value attended =
        block.attention(pass, site, block.attention_norm(x), setting, {}, &block.after_attention);
    const Value y = ops::add(x, block.after_attention(attended));
    const Value fed = block.feed_forward(block.feed_forward_norm(y));
    return ops::add(y, block.after_feed_forward(fed));
  }

  AttentionSizes sizes_;
  float scale_;
  bool both_ways_;
  RotaryEmbedding global_, local_;
  StoredMatrix words_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace

Architecture gemma3_architecture() {
  return {.name = "gemma3",
          .covers = "Gemma 3 (text)",
          .model_types = {"gemma3_text", "gemma3"},
          .not_needed = {"rotary_emb.inv_freq", "lm_head", "vision_tower", "multi_modal_projector"},
          .build = &build_model<Gemma3>};
}

}  // namespace fovea
