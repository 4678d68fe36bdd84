// GPT-NeoX and Pythia (Black et al. 2022, arXiv:2204.06745): rotary positions on a part of each
// head, attention and feed-forward side by side.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/layers/attention_layer.h"
#include "fovea/layers/feed_forward.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/rotary_embedding.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

// The file has q, k and v of head 0, then of head 1, ...; layers want all q, all k, all v.
Tensor parts_together(const Tensor& mixed, const AttentionSizes& sizes) {
  const int64_t parts = 3, dim = sizes.head_dim;
  const auto row = static_cast<int64_t>(mixed.bytes()) / mixed.size(0);
  Tensor sorted = Tensor::uninitialized(mixed.shape(), mixed.dtype());
  for (int64_t part = 0; part < parts; ++part) {
    for (int64_t head = 0; head < sizes.heads; ++head) {
      const std::byte* from = mixed.raw() + (head * parts + part) * dim * row;
      std::copy_n(from, dim * row, sorted.mutable_raw() + (part * sizes.heads + head) * dim * row);
    }
  }
  return sorted;
}

ops::Linear load_projections(const LayerSource& source, const AttentionSizes& sizes, bool bias) {
  const int64_t out = 3 * sizes.width;
  return ops::Linear(parts_together(source.weights.tensor("weight", {out, sizes.width}), sizes),
                     bias ? parts_together(source.weights.tensor("bias", {out}), sizes) : Tensor(),
                     source.compute);
}

// A part of each head turns: rotary_pct, or what newer files call it.
RotaryEmbedding load_rotary(const Config& config, int64_t head_dim) {
  double share = config.get_double("rotary_pct", 0.25);
  if (const std::optional<Config> rope = config.find_section("rope_parameters")) {
    share = rope->get_double("partial_rotary_factor", share);
  }
  const auto dim =
      share > 0 && share <= 1 ? static_cast<int64_t>(static_cast<double>(head_dim) * share) : 0;
  if (dim < 1 || dim + dim % 2 > head_dim) {
    fail(ErrorKind::kBadFile, "{}: rotates a share of {} of heads of {}; it must be within (0, 1]",
         config.source(), share, head_dim);
  }
  return RotaryEmbedding::of(config, dim, config.get_double("rotary_emb_base", 10000));
}

class GptNeoX final : public TextModel {
 public:
  explicit GptNeoX(const ModelSource& source)
      : GptNeoX(source, source.weights.below_one_of({"gpt_neox.", ""}, "embed_in.weight")) {}

 private:
  struct Block {
    Norm attention_norm;
    AttentionLayer attention;
    Norm feed_forward_norm;
    FeedForward feed_forward;
  };

  GptNeoX(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config)),
        parallel_(source.config.get_bool("use_parallel_residual", true)),
        rotary_(load_rotary(source.config, sizes_.head_dim)),
        words_(load_table(base["embed_in"], source.config.get_size("vocab_size"), sizes_.width)),
        norm_(Norm::layer(base["final_layer_norm"], sizes_.width,
                          source.config.get_double("layer_norm_eps", 1e-5))) {
    const int64_t layers = layer_count(source.config);
    for (int64_t i = 0; i < layers; ++i) {
      blocks_.push_back(load_block(base["layers"][i], source.config));
    }
    ModelFacts facts{.main = stack_facts(sizes_, layers)};
    facts.main.causal = facts.main.rotary = true;
    facts.text =
        TextFacts{.vocabulary = words_.size(0),
                  .trained_tokens = source.config.get_size("max_position_embeddings", 2048)};
    set_facts(facts);
    set_head(load_head(source));
  }

  Block load_block(const LayerSource& source, const Config& config) const {
    const int64_t width = sizes_.width, inner = config.get_size("intermediate_size");
    const double epsilon = config.get_double("layer_norm_eps", 1e-5);
    const bool bias = config.get_bool("attention_bias", true);
    return {Norm::layer(source["input_layernorm"], width, epsilon),
            AttentionLayer(sizes_,
                           {load_projections(source["attention.query_key_value"], sizes_, bias)},
                           load_linear(source["attention.dense"], width, width, bias)),
            Norm::layer(source["post_attention_layernorm"], width, epsilon),
            FeedForward(load_linear(source["mlp.dense_h_to_4h"], width, inner),
                        load_linear(source["mlp.dense_4h_to_h"], inner, width),
                        activation_named(config, "hidden_act", "gelu"))};
  }

  TextHead load_head(const ModelSource& source) const {
    const LayerSource& all = source.weights;
    if (source.is("ForCausalLM", "embed_out.weight")) {
      return word_head(HeadKind::kCausalLm,
                       WordScores(word_weights(source.config, all,
                                               {"embed_out.weight", "lm_head.weight"}, words_),
                                  {}, all.compute));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(
          load_linear(all["classifier"], sizes_.width, label_count(source.config)));
    }
    if (source.is("ForSequenceClassification", "score.weight")) {
      return last_token_class_head(source, sizes_.width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const RotaryTable table = rotary_.table(token_positions(pass, inputs.tokens()));
    const auto rule =
        text_rule(pass, sizes_.scale(), {.causal = true, .attention = inputs.attention_mask});
    const AttentionSetting setting{.rule = rule, .rotary = table};
    Value x = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
      x = run_block(pass, x, [this, &block, site, setting](const Pass& run, const Value& in) {
        const Value attended = block.attention(run, site, block.attention_norm(in), setting, in);
        const Value& input = parallel_ ? in : attended;
        return block.feed_forward(block.feed_forward_norm(input), attended, known_output(run));
      });
    }
    return norm_(x);
  }

  AttentionSizes sizes_;
  bool parallel_;
  RotaryEmbedding rotary_;
  StoredMatrix words_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace

Architecture gpt_neox_architecture() {
  return {.name = "gpt_neox",
          .covers = "GPT-NeoX, Pythia",
          .model_types = {"gpt_neox"},
          .not_needed = {"attention.bias", "attention.masked_bias", "rotary_emb.inv_freq",
                         "embed_out", "lm_head"},
          .build = &build_model<GptNeoX>};
}

}  // namespace fovea
