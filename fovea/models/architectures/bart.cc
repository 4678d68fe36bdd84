// BART (Lewis et al. 2020, arXiv:1910.13461), and what mBART and M2M100 change of it: norms before
// each part, other positions, many languages.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/bart_stack.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/seq2seq_model.h"
#include "fovea/models/text_model.h"

namespace fovea {
namespace {

// The first two rows of BART's tables belong to no position.
constexpr int64_t kPositionOffset = 2;

// fairseq's table: as Marian's, but with frequencies that reach 1 / 10000 and a row of zeros for
// padding.
Tensor zero_padded_sinusoids(int64_t positions, int64_t width, int64_t padding_id) {
  Tensor table = Tensor({positions, width});
  const int64_t half = width / 2;
  const float step = static_cast<float>(std::log(10000.0) / static_cast<double>(half - 1));
  float* row = table.mutable_values<float>().data();
  for (int64_t position = 0; position < positions; ++position, row += width) {
    if (position == padding_id) continue;
    for (int64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(position) * std::exp(-step * static_cast<float>(i));
      row[i] = std::sin(angle);
      row[half + i] = std::cos(angle);
    }
  }
  return table;
}

class Bart final : public Seq2SeqModel {
 public:
  explicit Bart(const ModelSource& source)
      : Bart(source, source.weights.below_one_of({"model.", ""},
                                                 "encoder.layers.0.self_attn.q_proj.weight")) {}
  StoredMatrix shared_words() const override { return shared_table(source_.words, target_.words); }

 private:
  enum class Kind { kBart, kMbart, kM2m100 };

  static Kind kind_of(const Config& config) {
    if (config.model_type() == "mbart") return Kind::kMbart;
    return config.model_type() == "m2m_100" ? Kind::kM2m100 : Kind::kBart;
  }

  static BartBlockOptions options(Kind kind) {
    return {.norm_first = kind != Kind::kBart,
            .activation = kind == Kind::kM2m100 ? "relu" : "gelu"};
  }

  static int64_t padding_id(const Config& config) {
    const int64_t id = config.get_int("pad_token_id", 1);
    if (id < 0 || id >= config.get_size("vocab_size")) {
      fail(ErrorKind::kBadFile, "{}: pad_token_id is {} but vocab_size {}; it must be below it",
           config.source(), id, config.get_size("vocab_size"));
    }
    return id;
  }

  Bart(const ModelSource& source, const LayerSource& base)
      : Seq2SeqModel(source),
        kind_(kind_of(source.config)),
        padding_id_(padding_id(source.config)),
        encoder_(base["encoder"], source.config, options(kind_)),
        decoder_(base["decoder"], source.config, options(kind_)),
        source_(load_embeddings(source.config, base, "encoder")),
        target_(load_embeddings(source.config, base, "decoder")) {
    ModelFacts facts =
        two_stack_facts(encoder_.sizes(), encoder_.layers(), decoder_.sizes(), decoder_.layers());
    const int64_t positions = source.config.get_size("max_position_embeddings", 1024);
    // M2M100's table is computed, and goes on as far as a text does.
    const int64_t most = kind_ == Kind::kM2m100 ? 0 : positions;
    facts.text = TextFacts{
        .vocabulary = source_.words.size(0), .most_tokens = most, .trained_tokens = positions};
    facts.target = TextFacts{.vocabulary = target_.words.size(0), .most_tokens = most};
    set_facts(facts);
    load_head(source);
  }

  BartEmbeddings load_embeddings(const Config& config, const LayerSource& base,
                                 std::string_view stack) const {
    const int64_t width = config.get_size("d_model");
    const int64_t words = config.get_size("vocab_size");
    const int64_t positions = config.get_size("max_position_embeddings", 1024);
    const LayerSource own = base[stack];
    BartEmbeddings result{.words = load_stack_words(base, stack, words, width),
                          .scale = config.get_bool("scale_embedding", kind_ == Kind::kM2m100)
                                       ? std::sqrt(static_cast<float>(width))
                                       : 1.0F};
    if (kind_ == Kind::kM2m100 && width < 4) {
      fail(ErrorKind::kBadFile, "{}: d_model is {} but positions of M2M100 need 4 numbers at least",
           config.source(), width);
    }
    if (kind_ != Kind::kM2m100) {
      result.positions = load_table(own["embed_positions"], positions + kPositionOffset, width);
      result.norm = Norm::layer(own["layernorm_embedding"], width, 1e-5);
    }
    return result;
  }

  void load_head(const ModelSource& source) {
    const LayerSource& all = source.weights;
    if (source.is("ForConditionalGeneration", "final_logits_bias")) {
      // M2M100 has no such bias, whatever an old file holds.
      const Tensor bias =
          kind_ == Kind::kM2m100 ? Tensor() : final_logits_bias(all, target_.words.size(0));
      set_word_scores(
          {word_weights(source.config, all, {"lm_head.weight"}, target_.words), bias, all.compute});
    } else if (source.is("ForSequenceClassification", "classification_head.dense.weight")) {
      set_class_head(all["classification_head"], facts().main.width);
    }
  }

  // Which rows of the table of positions a text has.
  std::vector<int64_t> places(const Pass& pass, std::span<const int64_t> ids) const {
    std::vector<int64_t> result = token_positions(pass, static_cast<int64_t>(ids.size()));
    if (kind_ != Kind::kM2m100) {
      for (int64_t& place : result) place += kPositionOffset;
      return result;
    }
    // Padding has the row of its own id, and is not counted.
    int64_t padding = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (result[i] == first_position(pass)) padding = 0;
      if (ids[i] == padding_id_) {
        ++padding;
        result[i] = padding_id_;
      } else {
        result[i] += padding_id_ + 1 - padding;
      }
    }
    return result;
  }

  Value embed(const BartEmbeddings& embeddings, const Pass& pass, std::string_view input,
              std::span<const int64_t> ids) const {
    const std::vector<int64_t> rows = places(pass, ids);
    if (kind_ != Kind::kM2m100) return embeddings(pass, input, ids, rows);
    BartEmbeddings computed = embeddings;
    computed.positions = zero_padded_sinusoids(*std::max_element(rows.begin(), rows.end()) + 1,
                                               embeddings.words.size(1), padding_id_);
    return computed(pass, input, ids, rows);
  }

  Value encoder_states(const ModelInputs& inputs, const Pass& pass) const override {
    return encoder_(pass, embed(source_, pass, kInputsEmbeds, inputs.input_ids),
                    inputs.attention_mask);
  }

  Value decoder_states(const EncodedSource& source, std::span<const int64_t> ids,
                       std::span<const int64_t> attention_mask, const Pass& pass) const override {
    return decoder_(pass, embed(target_, pass, kDecoderInputsEmbeds, ids), source, attention_mask);
  }

  // Padding comes last, so that its number tells where the text ends.
  int64_t language_id(const std::vector<int64_t>& ids) const {
    const auto padding = static_cast<size_t>(std::ranges::count(ids, padding_id_));
    return ids[padding == ids.size() ? 0 : ids.size() - padding - 1];
  }

  // BART reads the source once more, one place later; mBART begins with its last token, which names
  // the language.
  std::vector<int64_t> default_decoder_ids(const ModelInputs& inputs) const override {
    if (kind_ == Kind::kM2m100 || inputs.input_ids.empty()) {
      return Seq2SeqModel::default_decoder_ids(inputs);
    }
    std::vector<int64_t> ids = inputs.input_ids;
    ids.insert(ids.begin(), kind_ == Kind::kMbart ? language_id(ids)
                                                  : config().get_int("decoder_start_token_id", 2));
    ids.pop_back();
    return ids;
  }

  Kind kind_;
  int64_t padding_id_;
  BartEncoder encoder_;
  BartDecoder decoder_;
  BartEmbeddings source_, target_;
};

}  // namespace

Architecture bart_architecture() {
  return {.name = "bart",
          .covers = "BART, mBART, M2M100, NLLB (dense)",
          .model_types = {"bart", "mbart", "m2m_100"},
          .not_needed = {"embed_tokens", "embed_positions", "lm_head", "final_logits_bias",
                         "shared", "version"},
          .build = &build_model<Bart>};
}

}  // namespace fovea
