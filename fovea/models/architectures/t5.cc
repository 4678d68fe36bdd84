// T5 (Raffel et al. 2020, arXiv:1910.10683): a bias by distance in the place of positions. Flan-T5
// and T5 1.1 have gated feed-forward layers and word scores of their own, mT5 and UMT5 a larger
// vocabulary, UMT5 a bias for each layer.
#include <cmath>

#include "fovea/layers/numeric_input.h"
#include "fovea/layers/t5_stack.h"
#include "fovea/models/seq2seq_model.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

LayerSource below_prefix(const ModelSource& source) {
  return source.weights.below_one_of({"", "transformer."},
                                     "encoder.block.0.layer.0.SelfAttention.q.weight");
}

StoredMatrix load_words(const Config& config, const LayerSource& base, std::string_view stack) {
  return load_stack_words(base, stack, config.get_size("vocab_size"), config.get_size("d_model"));
}

// Nothing ends there, but longer texts are not what the first T5 was trained with.
int64_t trained_tokens(const Config& config) {
  return config.has("n_positions") ? config.get_size("n_positions") : 0;
}

T5StackOptions options(const Config& config, SiteKind site) {
  const bool decoder = site == SiteKind::kDecoderSelf && config.has("num_decoder_layers");
  return {.site = site,
          .layers_key = decoder ? "num_decoder_layers" : "num_layers",
          .bias_per_layer = config.model_type() == "umt5",
          .feed_forward = config.model_type() == "t5" ? "relu" : "gated-gelu"};
}

class T5 final : public Seq2SeqModel {
 public:
  explicit T5(const ModelSource& source) : T5(source, below_prefix(source)) {}
  StoredMatrix shared_words() const override { return shared_table(source_words_, target_words_); }

 private:
  T5(const ModelSource& source, const LayerSource& base)
      : Seq2SeqModel(source),
        source_words_(load_words(source.config, base, "encoder")),
        target_words_(load_words(source.config, base, "decoder")),
        encoder_(base["encoder"], source.config, options(source.config, SiteKind::kEncoderSelf)),
        decoder_(base["decoder"], source.config, options(source.config, SiteKind::kDecoderSelf)) {
    ModelFacts facts =
        two_stack_facts(encoder_.sizes(), encoder_.layers(), decoder_.sizes(), decoder_.layers());
    facts.text = TextFacts{.vocabulary = source_words_.size(0),
                           .trained_tokens = trained_tokens(source.config)};
    facts.target = TextFacts{.vocabulary = target_words_.size(0)};
    set_facts(facts);
    load_head(source);
  }

  void load_head(const ModelSource& source) {
    const LayerSource& all = source.weights;
    const std::string_view type = source.config.model_type();
    if (source.is("ForConditionalGeneration", "decoder.final_layer_norm.weight") ||
        source.is("T5WithLMHeadModel", "")) {
      // Scores that are not in the file are the embeddings, whatever tie_word_embeddings says; it
      // tells whether the first T5 is meant, which makes the states smaller before.
      const bool has_own = all.weights.has("lm_head.weight");
      set_word_scores(
          {has_own ? all.weights.tensor("lm_head.weight", target_words_.shape()) : target_words_,
           Tensor(), all.compute});
      const bool first = source.config.get_bool("tie_word_embeddings", true);
      if (type == "umt5" ||
          (type == "t5" && source.config.get_bool("scale_decoder_outputs", first))) {
        set_score_factor(1 / std::sqrt(static_cast<float>(facts().main.width)));
      }
    } else if (source.is("ForSequenceClassification", "classification_head.dense.weight")) {
      set_class_head(all["classification_head"], facts().main.width);
    }
  }

  Value encoder_states(const ModelInputs& inputs, const Pass& pass) const override {
    return encoder_(pass, embed_words(pass, kInputsEmbeds, source_words_, inputs.input_ids),
                    inputs.attention_mask);
  }

  Value decoder_states(const EncodedSource& source, std::span<const int64_t> ids,
                       std::span<const int64_t> attention_mask, const Pass& pass) const override {
    return decoder_(pass, embed_words(pass, kDecoderInputsEmbeds, target_words_, ids),
                    attention_mask, &source);
  }

  // A classifier reads the source once more, one place later.
  std::vector<int64_t> default_decoder_ids(const ModelInputs& inputs) const override {
    if (facts().head != HeadKind::kSequenceClass || inputs.input_ids.empty()) {
      return Seq2SeqModel::default_decoder_ids(inputs);
    }
    std::vector<int64_t> ids = inputs.input_ids;
    ids.insert(ids.begin(), config().get_int("decoder_start_token_id", 0));
    ids.pop_back();
    return ids;
  }

  StoredMatrix source_words_, target_words_;
  T5Stack encoder_, decoder_;
};

// The encoder by itself: a model of one text.
class T5Encoder final : public TextModel {
 public:
  explicit T5Encoder(const ModelSource& source) : T5Encoder(source, below_prefix(source)) {}

 private:
  T5Encoder(const ModelSource& source, const LayerSource& base)
      : TextModel(source),
        words_(load_words(source.config, base, "encoder")),
        encoder_(base["encoder"], source.config, options(source.config, SiteKind::kSelf)) {
    ModelFacts facts{.main = stack_facts(encoder_.sizes(), encoder_.layers())};
    facts.text =
        TextFacts{.vocabulary = words_.size(0), .trained_tokens = trained_tokens(source.config)};
    set_facts(facts);
    if (source.is("ForTokenClassification", "classifier.weight")) {
      set_head(token_class_head(
          load_linear(source.weights["classifier"], facts.main.width, label_count(source.config))));
    }
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    return encoder_(pass, embed_words(pass, kInputsEmbeds, words_, inputs.input_ids),
                    inputs.attention_mask);
  }

  StoredMatrix words_;
  T5Stack encoder_;
};

std::unique_ptr<Model> build_t5(const ModelSource& source) {
  const bool named = !source.config.get_strings("architectures").empty();
  const bool alone = named
                         ? source.is("EncoderModel", "") || source.is("ForTokenClassification", "")
                         : !below_prefix(source).weights.has("decoder.final_layer_norm.weight");
  if (alone) return std::make_unique<T5Encoder>(source);
  return std::make_unique<T5>(source);
}

}  // namespace

Architecture t5_architecture() {
  return {.name = "t5",
          .covers = "T5, Flan-T5, mT5, UMT5",
          .model_types = {"t5", "mt5", "umt5"},
          .not_needed = {"embed_tokens", "lm_head", "shared",
                         "EncDecAttention.relative_attention_bias"},
          .build = &build_t5};
}

}  // namespace fovea
