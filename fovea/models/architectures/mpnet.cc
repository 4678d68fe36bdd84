// MPNet (Song et al. 2020, arXiv:2004.09297): BERT's blocks with a learned bias for each distance,
// shared by all layers, and RoBERTa's positions.
#include "fovea/base/error.h"
#include "fovea/layers/norm_block.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/t5_stack.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr int64_t kPadding = 1;  // whatever pad_token_id says
constexpr int64_t kBuckets =
    32;  // of distances; transformers takes so many whatever the table holds

PostNormBlock load_mpnet_block(const LayerSource& source, const Config& config,
                               const AttentionSizes& sizes, double epsilon) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const LayerSource parts = source["attention.attn"];
  std::vector<ops::Linear> projections;
  for (const char* part : {"q", "k", "v"}) {
    projections.push_back(load_linear(parts[part], width, width));
  }
  return {AttentionLayer(sizes, std::move(projections), load_linear(parts["o"], width, width)),
          Norm::layer(source["attention.LayerNorm"], width, epsilon),
          FeedForward(load_linear(source["intermediate.dense"], width, inner),
                      load_linear(source["output.dense"], inner, width),
                      activation_named(config, "hidden_act", "gelu")),
          Norm::layer(source["output.LayerNorm"], width, epsilon)};
}

T5DistanceBias load_mpnet_bias(const LayerSource& source, const Config& config, int64_t heads) {
  const int64_t buckets = config.get_size("relative_attention_num_buckets", kBuckets);
  if (buckets != kBuckets) {
    fail(ErrorKind::kUnsupported,
         "{}: relative_attention_num_buckets is {}; MPNet counts distances in {}", config.source(),
         buckets, kBuckets);
  }
  return T5DistanceBias(source["relative_attention_bias"], config, heads, /*bidirectional=*/true);
}

class MpNet final : public TextModel {
 public:
  explicit MpNet(const ModelSource& source)
      : MpNet(source,
              source.weights.below_one_of({"mpnet.", ""}, "embeddings.word_embeddings.weight")) {}

 private:
  MpNet(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        sizes_(AttentionSizes::equal_heads(source.config)),
        epsilon_(source.config.get_double("layer_norm_eps", 1e-12)),
        words_(load_table(base["embeddings.word_embeddings"], source.config.get_size("vocab_size"),
                          sizes_.width)),
        positions_(load_table(base["embeddings.position_embeddings"],
                              source.config.get_size("max_position_embeddings"), sizes_.width)),
        norm_(Norm::layer(base["embeddings.LayerNorm"], sizes_.width, epsilon_)),
        bias_(load_mpnet_bias(base["encoder"], source.config, sizes_.heads)) {
    const int64_t layers = layer_count(source.config);
    for (int64_t i = 0; i < layers; ++i) {
      blocks_.push_back(
          load_mpnet_block(base["encoder.layer"][i], source.config, sizes_, epsilon_));
    }
    if (positions_.size(0) <= kPadding + 1) {
      fail(ErrorKind::kBadFile, "{}: max_position_embeddings is {}; positions begin at {}",
           source.config.source(), positions_.size(0), kPadding + 1);
    }
    set_facts(text_facts(sizes_, layers, words_.size(0), positions_.size(0) - kPadding - 1,
                         /*causal=*/false));
    // sentence-transformers' config.json names a head that their files do not hold.
    const bool has_words = source.weights.weights.has("lm_head.dense.weight");
    if (has_words || !source.is("ForMaskedLM", "")) {
      set_head(roberta_head(source, words_, epsilon_));
    }
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    auto rule = std::make_shared<ScoreRule>(
        *text_rule(pass, sizes_.scale(), {.attention = inputs.attention_mask}));
    rule->bias = bias_(pass, inputs.tokens());
    const Value words = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    const Value x = norm_(ops::add(
        words,
        ops::embedding(positions_, places_behind_padding(inputs.input_ids, pass, kPadding))));
    return run_blocks(blocks_, pass, SiteKind::kSelf, x, {.rule = rule});
  }

  AttentionSizes sizes_;
  double epsilon_;
  StoredMatrix words_, positions_;
  Norm norm_;
  T5DistanceBias bias_;
  std::vector<PostNormBlock> blocks_;
};

}  // namespace

Architecture mpnet_architecture() {
  return {.name = "mpnet",
          .covers = "MPNet and the like of sentence-transformers folders",
          .model_types = {"mpnet"},
          .not_needed = {"position_ids", "pooler", "lm_head.decoder", "lm_head.bias"},
          .build = &build_model<MpNet>};
}

}  // namespace fovea
