// Marian (Junczys-Dowmunt et al. 2018, arXiv:1804.00344): the translation models of OPUS-MT.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/bart_stack.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/seq2seq_model.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

// sin in the first half of the numbers, cos in the second.
Tensor sinusoid_table(int64_t positions, int64_t width) {
  Tensor table = Tensor::uninitialized({positions, width});
  const int64_t half = (width + 1) / 2;
  float* out = table.mutable_values<float>().data();
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t i = 0; i < width; ++i) {
      const auto pair = static_cast<double>(i < half ? i : i - half);
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2 * pair / static_cast<double>(width));
      *out++ = static_cast<float>(i < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

class Marian final : public Seq2SeqModel {
 public:
  explicit Marian(const ModelSource& source)
      : Marian(source, source.weights.below_one_of({"model.", ""},
                                                   "encoder.layers.0.self_attn.q_proj.weight")) {}
  StoredMatrix shared_words() const override { return shared_table(source_.words, target_.words); }

 private:
  Marian(const ModelSource& source, const LayerSource& base)
      : Seq2SeqModel(source),
        encoder_(base["encoder"], source.config, options(source.config)),
        decoder_(base["decoder"], source.config, options(source.config)),
        source_(load_embeddings(source.config, base, "encoder", "vocab_size")),
        target_(load_embeddings(source.config, base, "decoder",
                                shared(source.config) ? "vocab_size" : "decoder_vocab_size")) {
    ModelFacts facts =
        two_stack_facts(encoder_.sizes(), encoder_.layers(), decoder_.sizes(), decoder_.layers());
    facts.text = TextFacts{.vocabulary = source_.words.size(0),
                           .most_tokens = source_.positions.size(0),
                           .trained_tokens = source_.positions.size(0)};
    facts.target =
        TextFacts{.vocabulary = target_.words.size(0), .most_tokens = target_.positions.size(0)};
    set_facts(facts);
    if (!source.is("MarianModel", "")) set_word_scores(load_scores(source));
  }

  static bool shared(const Config& config) {
    return config.get_bool("share_encoder_decoder_embeddings", true);
  }

  static BartBlockOptions options(const Config& config) {
    // Never so in a published model, and transformers does not look at it.
    if (config.get_bool("normalize_before", false)) {
      fail(ErrorKind::kUnsupported, "{}: normalize_before is true; Marian's norms come after",
           config.source());
    }
    return {};
  }

  static BartEmbeddings load_embeddings(const Config& config, const LayerSource& base,
                                        std::string_view stack, std::string_view vocabulary_key) {
    const int64_t width = config.get_size("d_model");
    const int64_t positions = config.get_size("max_position_embeddings", 1024);
    const LayerSource own = base[stack];
    return {.words = load_stack_words(
                base, stack, config.get_size(vocabulary_key, config.get_size("vocab_size")), width),
            .scale = config.get_bool("scale_embedding", false)
                         ? std::sqrt(static_cast<float>(width))
                         : 1.0F,
            // Older files hold the table, as they could any other.
            .positions = own.weights.has("embed_positions.weight")
                             ? load_table(own["embed_positions"], positions, width)
                             : sinusoid_table(positions, width)};
  }

  WordScores load_scores(const ModelSource& source) const {
    const LayerSource& all = source.weights;
    return {word_weights(source.config, all, {"lm_head.weight"}, target_.words),
            final_logits_bias(all, target_.words.size(0)), all.compute};
  }

  Value encoder_states(const ModelInputs& inputs, const Pass& pass) const override {
    return encoder_(
        pass,
        source_(pass, kInputsEmbeds, inputs.input_ids, token_positions(pass, inputs.tokens())),
        inputs.attention_mask);
  }

  Value decoder_states(const EncodedSource& source, std::span<const int64_t> ids,
                       std::span<const int64_t> attention_mask, const Pass& pass) const override {
    const auto count = static_cast<int64_t>(ids.size());
    return decoder_(pass, target_(pass, kDecoderInputsEmbeds, ids, token_positions(pass, count)),
                    source, attention_mask);
  }

  BartEncoder encoder_;
  BartDecoder decoder_;
  BartEmbeddings source_, target_;
};

}  // namespace

Architecture marian_architecture() {
  return {.name = "marian",
          .covers = "Marian: the translation models of OPUS-MT",
          .model_types = {"marian"},
          .not_needed = {"embed_tokens", "lm_head", "final_logits_bias", "shared"},
          .build = &build_model<Marian>};
}

}  // namespace fovea
